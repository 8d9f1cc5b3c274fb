"""What every page that restive writes asks of the browser: run our script, if any, and no other."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256


def content_policy(*scripts: str) -> str:
    """The page's content security policy: these inline scripts by hash, no network, no forms.

    It goes into ``<meta http-equiv="Content-Security-Policy" content="...">``. Handlers in
    attributes, such as onclick, do not run under it; style attributes do apply.

    >>> content_policy()
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
form-action 'none'; script-src 'none'"
    """
    hashes = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
        f"form-action 'none'; script-src {allowed}"
    )
