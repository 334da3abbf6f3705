// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package render

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packageFunctions are the functions that the package format of KUDO 0.19 offers besides those of text/template.
const packageFunctions = `
abbrev abbrevboth add add1 adler32sum ago append atoi b32dec b32enc b64dec b64enc biggest buildCustomCert camelcase cat
ceil coalesce compact concat contains date dateInZone dateModify date_in_zone date_modify decryptAES deepCopy deepEqual
default derivePassword dict div empty encryptAES fail first float64 floor genCA genPrivateKey genSelfSignedCert
genSignedCert getHostByName has hasKey hasPrefix hasSuffix hello htmlDate htmlDateInZone indent initial initials int
int64 join kebabcase keys kindIs kindOf last list lower max merge mergeOverwrite min mod mul nindent nospace now omit
pick pluck plural prepend push quote randAlpha randAlphaNum randAscii randNumeric regexFind regexFindAll regexMatch
regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace rest reverse round semver semverCompare set sha1sum
sha256sum shuffle slice snakecase sortAlpha split splitList splitn squote sub substr swapcase ternary title toDate
toDecimal toJson toPrettyJson toString toStrings toYaml trim trimAll trimPrefix trimSuffix trimall trunc tuple typeIs
typeIsLike typeOf uniq unixEpoch unset until untilStep untitle upper urlJoin urlParse uuidv4 values without wrap wrapWith
`

func TestFunctions(t *testing.T) {
	want := strings.Fields(packageFunctions)
	got := slices.Sorted(maps.Keys(functions()))
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the functions of the package format changed (-want +got):\n%s", diff)
	}
}

// Where Sprig 3 differs from 2.22, packages rely on 2.22.
func TestFunctionsAreThoseOfSprig2(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{{ title "hello wORLD" }}`, "Hello WORLD"},
		{`{{ default "d" "" }}{{ default "d" 0 }}{{ default "d" "x" }}`, "ddx"},
		{`{{ toDecimal "0777" }}`, "511"},
		{`{{ (merge (dict "a" 1) (dict "a" 2 "b" 3)) | toJson }}`, `{"a":1,"b":3}`},
		{`{{ (mergeOverwrite (dict "a" 1) (dict "a" 2)) | toJson }}`, `{"a":2}`},
		{`{{ semverCompare ">=1.16.0" "1.28.3" }} {{ (semver "1.2.3-beta.1").Prerelease }}`, "true beta.1"},
		{`{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}`, "-W-xxW-"},
		{`{{ min 3 "2" }} {{ max 1 2.0 }} {{ div 7 2 }} {{ mul 2 3 }} {{ sub 5 7 }}`, "2 2 3 6 -2"},
		{`{{ until 3 }} {{ untilStep 1 7 3 }}`, "[0 1 2] [1 4]"},
		{`{{ "a b" | trimall " " | b64enc | b64dec }}`, "a b"},
		{`{{ indent 2 "a\nb" }}`, "  a\n  b"},
	} {
		got, err := Template("t.yaml", test.text, Variables{})
		if err != nil || got != test.want {
			t.Errorf("%s\ngot  %q, %v\nwant %q", test.text, got, err, test.want)
		}
	}
}
