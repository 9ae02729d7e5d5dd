"""URLs.

The expected values are those of k8s.io/apiserver 1.37.
"""

from __future__ import annotations

from typing import Any

import pytest

VALUES = {
    "url('https://user:pass@example.com:80/path?query=val#fragment').getScheme()": "https",
    "url('HTTPS://example.com/').getScheme()": "https",
    "url('/path').getScheme()": "",
    "url('https://example.com:80/').getHost()": "example.com:80",
    "url('https://[::1]:80/').getHost()": "[::1]:80",
    "url('/path').getHost()": "",
    "url('https://u@h/').getHost()": "h",
    "url('//h/p').getHost()": "h",
    "url('https://[::1]:80/').getHostname()": "::1",
    "url('https://[fe80::1%25en0]/').getHostname()": "fe80::1%en0",
    "url('https://h%c3%a9/').getHostname()": "hé",
    "url('https://example.com:/').getPort()": "",
    "url('https://example.com:80/').getPort()": "80",
    "url('/path').getPort()": "",
    "url('https://example.com/path with spaces/').getEscapedPath()": "/path%20with%20spaces/",
    "url('https://example.com/a%2fb[c]').getEscapedPath()": "/a%2fb[c]",
    "url('https://example.com/\\u00e9').getEscapedPath()": "/%C3%A9",
    "url('https://example.com').getEscapedPath()": "",
    "url('mailto:a@b').getEscapedPath()": "",
    "url('*').getEscapedPath()": "*",
    "url('https://h/path?k1=a&k2=b&k2=c').getQuery()": {"k1": ["a"], "k2": ["b", "c"]},
    "url('https://h/?key with spaces=value+with%20spaces').getQuery()": {"key with spaces": ["value with spaces"]},
    "url('https://h/?a;b=1&c=%zz&=x&d').getQuery()": {"d": [""], "": ["x"]},
    "url('https://h/path?').getQuery()": {},
    "url('http://a/b') == url('http://a/b#')": True,
    "url('http://a/b') == url('http://a/b?')": False,
    "url('http://a/%41') == url('http://a/A')": False,
    "url('HTTP://a/b') == url('http://a/b')": True,
    "url('http://u:p@a/ b#c d') == url('http://u:p@a/%20b#c%20d')": True,
    "isURL('https://example.com')": True,
    "isURL('/absolute')": True,
    "isURL('../relative')": False,
    "isURL('https://a:b:c/')": False,
    "isURL('ftp://a:b:1/')": True,
    "isURL('')": False,
    "isURL('https://a b/')": False,
    "isURL('https://h/#%zz')": False,
    "isURL('https://h/\\n')": False,
}


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_urls_are_those_of_the_api_server(outcome: Any, text: str, value: Any) -> None:
    assert outcome(text) == value


FAULTS = {
    "": "empty url",
    "a/b": "invalid URI for request",
    ":a": "missing protocol scheme",
    "https://h/%zz": 'invalid URL escape "%zz"',
    "https://h/%4": 'invalid URL escape "%4"',
    "https://h/#%zz": 'invalid URL escape "%zz"',
    "https://a:b:c/": 'invalid port ":b:c" after host',
    "https://a:80x/": 'invalid port ":80x" after host',
    "https://a b/": 'invalid character " " in host name',
    "https://h%20x/": 'invalid URL escape "%20"',
    "https://[::1": "missing ']' in host",
    "https://::1]": 'invalid port "::1]" after host',
    "https://a[::1]/": "invalid IP-literal",
    "https://[1.2.3.4]/": "invalid IP-literal",
    "https://[x]/": 'invalid host: ParseAddr("x"): unable to parse IP',
    "https://[::1]x/": 'invalid port "x" after host',
    "https://ü@h/": "net/url: invalid userinfo",
    "https://%zz@h/": 'invalid URL escape "%zz"',
}


@pytest.mark.parametrize(("text", "fault"), FAULTS.items())
def test_what_is_no_url_is_told_as_go_tells_it(outcome: Any, text: str, fault: str) -> None:
    assert outcome(f"url('{text}')").message == (
        f'URL parse error during conversion from string: parse "{text}": {fault}'
    )


ERRORS = {
    "url('https://h/\\u007f')": 'URL parse error during conversion from string: parse "https://h/\\x7f": net/url: invalid control character in URL',
    "url('/') == dyn('/')": "no such overload",
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items())
def test_what_goes_wrong_with_a_url(outcome: Any, text: str, message: str) -> None:
    assert outcome(text).message == message
