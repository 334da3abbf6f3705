// SPDX-License-Identifier: Apache-2.0
// Copyright The KUDO API Server Authors.

package v1beta1

import (
	"net/url"
	"strings"
	"testing"
)

func TestLogOptionsOfAQuery(t *testing.T) {
	for query, want := range map[string]PlanExecutionLogOptions{
		"": {},
		"follow=true&format=json&sinceSequence=7": {Follow: true, Format: JSONLogFormat, SinceSequence: 7},
		"sinceSequence=-1&format=xml":             {Format: "xml", SinceSequence: -1},
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		var got PlanExecutionLogOptions
		if err := Convert_url_Values_To_v1beta1_PlanExecutionLogOptions(&values, &got, nil); err != nil || got != want {
			t.Errorf("%q: %+v, %v", query, got, err)
		}
	}
	for _, value := range []string{"abc", "", "1.5", "99999999999999999999"} {
		values := url.Values{"sinceSequence": {value}}
		if err := Convert_url_Values_To_v1beta1_PlanExecutionLogOptions(&values, &PlanExecutionLogOptions{}, nil); err == nil || !strings.Contains(err.Error(), "sinceSequence: Invalid value") {
			t.Errorf("%q: %v", value, err)
		}
	}
}
