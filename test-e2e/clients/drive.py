"""Calls operations by a generated Python client: a request per line of the input, what came of it per line of the output."""
import datetime
import enum
import importlib
import inspect
import io
import json
import pkgutil
import sys
import typing

import opsplane_client.api
from opsplane_client import AuthenticatedClient
from opsplane_client.types import UNSET, File


def plain(name):
    return name.replace('_', '').replace('-', '').lower()


modules = {
    plain(found.name.rsplit('.', 1)[1]): found.name
    for found in pkgutil.walk_packages(opsplane_client.api.__path__, 'opsplane_client.api.')
    if not found.ispkg
}


def value_of(hint, value):
    """The value as one of the types of a parameter."""
    problem = TypeError(f'{value!r} is none of {hint}')
    for option in typing.get_args(hint) or (hint,):
        if option is typing.Any:
            return value
        try:
            if hasattr(option, 'from_dict') and isinstance(value, dict):
                return option.from_dict(value)
            if inspect.isclass(option) and issubclass(option, enum.Enum):
                return option(value)
            if option is datetime.datetime and isinstance(value, str):
                return datetime.datetime.fromisoformat(value)
            if option in (str, int, float, bool) and isinstance(value, option):
                return value
        except (KeyError, TypeError, ValueError) as error:
            problem = error
    if not isinstance(value, dict):
        return value
    raise problem


def call(request):
    module = importlib.import_module(modules[plain(request['operation'])])
    values = {plain(name): value for place in request['params'].values() for name, value in place.items()}
    hints = typing.get_type_hints(module.sync_detailed)
    client = AuthenticatedClient(request['url'], request['token'], raise_on_unexpected_status=True, timeout=60)
    given = {}
    for name in inspect.signature(module.sync_detailed).parameters:
        if name == 'client':
            continue
        if name == 'body':
            if 'file' in request:
                given['body'] = File(payload=io.BytesIO(request['file'].encode()))
            elif 'body' in request:
                given['body'] = value_of(hints['body'], request['body'])
        elif plain(name) in values:
            given[name] = value_of(hints[name], values[plain(name)])
    return int(module.sync_detailed(client=client, **given).status_code)


print(json.dumps({'ready': sorted(modules)}), flush=True)
for line in sys.stdin:
    try:
        print(json.dumps({'status': call(json.loads(line))}), flush=True)
    except Exception as error:  # noqa: BLE001: what is wrong with a call is for the test to show
        print(json.dumps({'error': f'{type(error).__name__}: {error}'[:1000]}), flush=True)
