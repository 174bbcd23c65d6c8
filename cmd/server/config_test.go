package main

import (
	"bytes"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigComesFromFlagsThenVariablesThenDefaults(t *testing.T) {
	env := map[string]string{"DRAINLAB_ADDR": ":9000", "DRAINLAB_LOG": "debug", "DRAINLAB_LOG_FORMAT": "json"}
	cfg, err := readConfig([]string{"-addr", "127.0.0.1:9001"}, func(k string) string { return env[k] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.addr != "127.0.0.1:9001" || cfg.logLevel != slog.LevelDebug || !cfg.logJSON || cfg.data != "" {
		t.Errorf("read as %+v", cfg)
	}
	cfg, err = readConfig(nil, func(string) string { return "" }, nil)
	if err != nil || cfg.addr != ":8080" || cfg.logLevel != slog.LevelInfo {
		t.Errorf("the defaults are %+v, %v", cfg, err)
	}
}

func TestAWrongConfigIsRefusedWithAClearLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args []string
		env  string
		says []string
	}{
		{args: []string{"-addr", "8080"}, says: []string{"-addr", `"8080"`, "host:port"}},
		{args: []string{"-addr", ":99999"}, says: []string{"-addr", `":99999"`, "65535"}},
		{args: []string{"-log", "loud"}, says: []string{"-log", `"loud"`, "debug, info, warn, error"}},
		{args: []string{"-log", "info+2"}, says: []string{"-log", "debug, info, warn, error"}},
		{args: []string{"-log-format", "xml"}, says: []string{"-log-format", `"xml"`, "text, json"}},
		{args: []string{"-tls-cert", "a.pem"}, says: []string{"-tls-cert", "-tls-key", "together"}},
		{args: []string{"-nats", "localhost"}, says: []string{"-nats", `"localhost"`, "nats://"}},
		{args: []string{"-nats", "nats://h:4222", "-data", "d"}, says: []string{"-nats", "-data", "exclude"}},
		{args: []string{"-data", file}, says: []string{"-data", "not a folder"}},
		{args: []string{"-public-url", "course.example"}, says: []string{"-public-url", `"course.example"`, "https://"}},
		{args: []string{"-public-url", "https://course.example/x"}, says: []string{"-public-url", "nothing after it"}},
		{args: []string{"-frame-ancestors", "https://a.example; script-src *"}, says: []string{"-frame-ancestors", "spaces between"}},
		{args: []string{"extra"}, says: []string{`"extra"`, "-h"}},
		{args: []string{"-nosuch"}, says: []string{"-nosuch"}},
		{env: "nonsense", says: []string{"-addr", `"nonsense"`}},
	} {
		_, err := readConfig(tc.args, func(name string) string {
			if name == "DRAINLAB_ADDR" {
				return tc.env
			}
			return ""
		}, nil)
		if err == nil {
			t.Errorf("%v %s: accepted", tc.args, tc.env)
			continue
		}
		for _, part := range tc.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v %s: %q lacks %q", tc.args, tc.env, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: more than one line: %q", tc.args, err)
		}
	}
}

func TestHelpNamesEveryFlagAndItsVariable(t *testing.T) {
	var help bytes.Buffer
	if _, err := readConfig([]string{"-h"}, os.Getenv, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatal(err)
	}
	for _, name := range []string{"addr", "data", "nats", "log", "log-format", "tls-cert", "tls-key", "healthcheck"} {
		if !strings.Contains(help.String(), "\n  -"+name) {
			t.Errorf("the help lacks -%s", name)
		}
		if name != "healthcheck" && !strings.Contains(help.String(), envName(name)) {
			t.Errorf("the help lacks %s", envName(name))
		}
	}
}

func TestTheHealthcheckAsksTheServerItself(t *testing.T) {
	server := startServer(t)
	addr := strings.TrimPrefix(server.url, "http://")
	none := func(string) string { return "" }
	if code := run([]string{"-healthcheck", "-addr", addr}, none, lessons); code != 0 {
		t.Errorf("of a live server: %d", code)
	}
	server.kill()
	if code := run([]string{"-healthcheck", "-addr", addr}, none, lessons); code != 1 {
		t.Errorf("of a dead server: %d", code)
	}
	if code := run([]string{"-addr", "x"}, none, lessons); code != 2 {
		t.Errorf("of a wrong address: %d", code)
	}
}

func TestASecondServerInTheSameFolderIsRefused(t *testing.T) {
	dir := t.TempDir()
	startServer(t, "-data", dir)
	if code := run([]string{"-addr", "127.0.0.1:0", "-data", dir}, func(string) string { return "" }, lessons); code != 1 {
		t.Errorf("the second server ended with %d", code)
	}
}
