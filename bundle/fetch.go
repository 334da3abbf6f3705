// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// fetchTime is how long the download of a package may take. Packages are small, and whoever waits is at a terminal.
const fetchTime = 2 * time.Minute

// isURL tells URLs from paths.
func isURL(location string) bool { return strings.Contains(location, "://") }

// fetch downloads an archive. Proxies are those of the environment, and redirects are followed.
func fetch(ctx context.Context, location string) (source, error) {
	where, err := url.Parse(location)
	if err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https" {
		return nil, fmt.Errorf("%q is no URL of an operator package; it has to begin with http:// or https:// and lead to a .tgz", location)
	}
	// A password in the URL stays out of errors.
	name := where.Redacted()
	ctx, stop := context.WithTimeout(ctx, fetchTime)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, location, nil)
	if err != nil {
		return nil, fmt.Errorf("operator package %q: %w", name, err)
	}
	request.Header.Set("User-Agent", "kubectl-kudo")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err
		}
		return nil, fmt.Errorf("operator package %q cannot be downloaded: %w; check the URL, the network and the proxy", name, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("operator package %q cannot be downloaded: the server answers %s; check the URL", name, response.Status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxDownload+1))
	if err != nil {
		return nil, fmt.Errorf("operator package %q cannot be downloaded: %w", name, err)
	}
	if len(data) > maxDownload {
		return nil, fmt.Errorf("operator package %q: it is longer than %d MiB; an operator package holds only text", name, maxDownload>>20)
	}
	return newArchive(name, data), nil
}
