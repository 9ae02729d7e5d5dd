"""Pages for a browser: each a single file that needs nothing else, all of one look."""

from webhook.report.html.report import HtmlReport

__all__ = ["HtmlReport"]
