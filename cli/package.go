// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"kudo.dev/kudo/bundle"
	"kudo.dev/kudo/bundle/verify"
)

// packageCommand is the parent of the commands for authors of packages. None of them talks to a cluster.
func packageCommand(env *environment) *cobra.Command {
	command := &cobra.Command{Use: "package", Short: "Check and pack operator packages"}
	command.AddCommand(packageVerifyCommand(env), packageCreateCommand(env))
	return command
}

func packageVerifyCommand(env *environment) *cobra.Command {
	var output string
	var checks []string
	command := &cobra.Command{
		Use:   "verify DIR|TGZ|URL",
		Short: "Find mistakes in an operator package",
		Long:  "Find mistakes in an operator package, without a cluster. Errors make it invalid; warnings are most likely not meant so.",
		Example: `  kubectl kudo package verify ./keyvalue

  # Look also at what people read
  kubectl kudo package verify ./keyvalue --param-checks display,desc,hint`,
		Args: onePackage,
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			p, err := bundle.Open(command.Context(), args[0])
			if err != nil {
				return err
			}
			result, err := verify.Package(command.Context(), p, checks...)
			if err != nil {
				return err
			}
			return report(env.Out, result, output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "yaml or json, for programs")
	command.Flags().StringSliceVar(&checks, "param-checks", nil, "further checks of parameters: "+strings.Join(verify.Extended(), ", "))
	return command
}

func packageCreateCommand(env *environment) *cobra.Command {
	var output, destination string
	var overwrite bool
	command := &cobra.Command{
		Use:   "create DIR",
		Short: "Pack the folder of an operator into a .tgz",
		Long: "Verify the operator in a folder and pack it into NAME-APPVERSION_OPERATORVERSION.tgz.\n\n" +
			"The same files give the same archive, byte for byte.",
		Example: `  kubectl kudo package create ./keyvalue -d out`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("expecting exactly one argument - directory of the operator, but got %d", len(args))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			p, err := bundle.Read(args[0])
			if err != nil {
				return err
			}
			result, err := verify.Package(command.Context(), p)
			if err != nil {
				return err
			}
			if err := report(env.Out, result, output); err != nil {
				return err
			}
			path, err := writeArchive(p, args[0], destination, overwrite)
			if err != nil {
				return err
			}
			if output != "" {
				// What programs read stays one document.
				_, _ = fmt.Fprintf(env.ErrOut, "Package created: %s\n", path)
				return nil
			}
			env.say("Package created: %s", path)
			return nil
		},
	}
	command.Flags().StringVarP(&destination, "destination", "d", ".", "folder to write the archive into")
	command.Flags().BoolVarP(&overwrite, "overwrite", "w", false, "replace an archive that exists")
	command.Flags().StringVarP(&output, "output", "o", "", "yaml or json: how the result of the verification is printed")
	return command
}

// writeArchive packs a folder and returns the path of the archive. What exists is replaced at once or not at all.
func writeArchive(p *bundle.Package, folder, destination string, overwrite bool) (string, error) {
	data, err := bundle.Pack(folder)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(destination, bundle.ArchiveName(p)))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("cannot write the package: %w", err)
	}
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return "", fmt.Errorf("%s exists already; replace it with --overwrite, or choose another folder with --destination", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".kudo-package-")
	if err != nil {
		return "", fmt.Errorf("cannot write the package: %w", err)
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if chmod := file.Chmod(0o644); err == nil {
		err = chmod
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("cannot write the package: %w", err)
	}
	return path, nil
}

// checkOutput refuses formats that there are not.
func checkOutput(format string) error {
	switch format {
	case "", "yaml", "json":
		return nil
	default:
		return fmt.Errorf("invalid output format %q, only support 'yaml' or 'json' or empty", format)
	}
}

// report prints what a verification found, and fails if that were errors. The texts are those of KUDO, with file and line
// before each.
func report(out io.Writer, result *verify.Result, format string) error {
	errs, warnings := result.Errors(), result.Warnings()
	if format != "" {
		content := struct {
			Errors   []string `json:"errors"`
			Warnings []string `json:"warnings"`
			Valid    bool     `json:"valid"`
		}{errs, warnings, result.Valid()}
		data, err := json.MarshalIndent(content, "", "  ")
		if format == "yaml" {
			data, err = yaml.Marshal(content)
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, strings.TrimSpace(string(data)))
	} else {
		for _, part := range []struct {
			title string
			lines []string
		}{{"Warnings", warnings}, {"Errors", errs}} {
			if len(part.lines) > 0 {
				_, _ = fmt.Fprintf(out, "%s\n%s\n", part.title, strings.Join(part.lines, "\n"))
			}
		}
		if result.Valid() {
			_, _ = fmt.Fprintln(out, "package is valid")
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("found %d package verification errors", len(errs))
	}
	return nil
}
