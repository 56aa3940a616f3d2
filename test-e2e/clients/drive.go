// Calls operations by a generated Go client: a request per line of the input, what came of it per line of the output.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"reflect"
	"strings"

	"example.com/clients/api"
)

type request struct {
	Operation string                       `json:"operation"`
	URL       string                       `json:"url"`
	Token     string                       `json:"token"`
	Path      []string                     `json:"path"`
	Params    map[string]map[string]any `json:"params"`
	Body      json.RawMessage              `json:"body"`
	File      *string                      `json:"file"`
	Media     string                       `json:"media"`
}

type answer struct {
	Ready  []string `json:"ready,omitempty"`
	Status int      `json:"status,omitempty"`
	Error  string   `json:"error,omitempty"`
}

var clientType = reflect.TypeOf(&api.ClientWithResponses{})

func methodOf(each request) string {
	name := strings.ToUpper(each.Operation[:1]) + each.Operation[1:]
	if each.File != nil {
		return name + "WithBodyWithResponse"
	}
	return name + "WithResponse"
}

func call(each request) (status int, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	client, err := api.NewClientWithResponses(each.URL)
	if err != nil {
		return 0, err
	}
	method := reflect.ValueOf(client).MethodByName(methodOf(each))
	if !method.IsValid() {
		return 0, fmt.Errorf("the client has no %s", methodOf(each))
	}
	signed := api.RequestEditorFn(func(_ context.Context, sent *http.Request) error {
		sent.Header.Set("Authorization", "Bearer "+each.Token)
		return nil
	})
	arguments := []reflect.Value{reflect.ValueOf(context.Background())}
	for at := 1; at < method.Type().NumIn()-1; at++ {
		argument, err := argumentOf(method.Type().In(at), &each)
		if err != nil {
			return 0, err
		}
		arguments = append(arguments, argument)
	}
	results := method.Call(append(arguments, reflect.ValueOf(signed)))
	if failure, is := results[1].Interface().(error); is && failure != nil {
		return 0, failure
	}
	return int(results[0].MethodByName("StatusCode").Call(nil)[0].Int()), nil
}

// Of a method: path values in their order, then the parameters, then the body.
func argumentOf(kind reflect.Type, each *request) (reflect.Value, error) {
	if len(each.Path) > 0 {
		text := each.Path[0]
		each.Path = each.Path[1:]
		value := reflect.New(kind)
		if kind.Kind() == reflect.String {
			value.Elem().SetString(text)
			return value.Elem(), nil
		}
		return value.Elem(), json.Unmarshal([]byte(text), value.Interface())
	}
	if kind.Kind() == reflect.Pointer && strings.HasSuffix(kind.Elem().Name(), "Params") {
		named := map[string]any{}
		for _, place := range each.Params {
			maps.Copy(named, place)
		}
		text, err := json.Marshal(named)
		if err != nil {
			return reflect.Value{}, err
		}
		value := reflect.New(kind.Elem())
		return value, json.Unmarshal(text, value.Interface())
	}
	if kind == reflect.TypeOf((*io.Reader)(nil)).Elem() {
		return reflect.ValueOf(strings.NewReader(*each.File)), nil
	}
	if each.File != nil {
		return reflect.ValueOf(each.Media), nil
	}
	value := reflect.New(kind)
	return value.Elem(), json.Unmarshal(each.Body, value.Interface())
}

func main() {
	names := []string{}
	for at := 0; at < clientType.NumMethod(); at++ {
		names = append(names, clientType.Method(at).Name)
	}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(answer{Ready: names})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	for lines.Scan() {
		var each request
		err := json.Unmarshal(lines.Bytes(), &each)
		status := 0
		if err == nil {
			status, err = call(each)
		}
		if err != nil {
			_ = out.Encode(answer{Error: err.Error()})
			continue
		}
		_ = out.Encode(answer{Status: status})
	}
}
