"""The pages of 400, 403, 404, 500 and of a failed CSRF check.

Those that can happen before or instead of an ordinary page (400, 500, CSRF) use no
request, no session and no database.
"""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import loader
from django.urls import Resolver404, reverse

from web.doors import RoleMissing
from web.problem_json import problem


def bad_request(
    request: HttpRequest,  # noqa: ARG001  # Django's signature
    exception: Exception,  # noqa: ARG001  # Django's signature
) -> HttpResponse:
    """The reason stays in the log: it can hold what an attacker sent."""
    return _plain(
        400,
        "The request was not understood",
        "Something in the address or the form is not what this page expects. "
        "Go back and try again.",
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The sentence of the exception says what to ask for."""
    known = isinstance(exception, PermissionDenied) and str(exception)
    no_role = isinstance(exception, RoleMissing) and exception.held is None
    context = {
        "sentence": known or "Your role does not allow this.",
        "back": reverse("password_change") if no_role else "/",
        "back_words": "Change password" if no_role else "To the overview",
    }
    return render(request, "403.html", context, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """``Http404("sentence")`` shows its sentence; others a general one."""
    if _of_the_api(request):
        return problem(404, "There is nothing at this address; /api/v1/docs/ has all.")
    sentence = (
        "The object may have been deleted from the cluster meanwhile, or the address "
        "is mistyped. Search for its name above."
    )
    given = str(exception.args[0]) if exception.args else ""
    own = isinstance(exception, Http404) and not isinstance(exception, Resolver404)
    if own and given and " matches the given query" not in given:
        sentence = given
    return render(request, "404.html", {"sentence": sentence}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    sentence = (
        "This is a fault of the portal, not yours, and it is in its log. "
        "Try again; if it stays, tell the administrator the address and the time."
    )
    if _of_the_api(request):
        return problem(500, sentence)
    return _plain(500, "The portal failed", sentence)


def csrf_failure(
    request: HttpRequest,  # noqa: ARG001  # Django's signature
    reason: str = "",  # noqa: ARG001  # Django's signature
) -> HttpResponse:
    return _plain(
        403,
        "This form has expired",
        "The form was opened before you signed in or out, or cookies are blocked. "
        "Go back, reload the page and send it again.",
    )


def _of_the_api(request: HttpRequest) -> bool:
    """Tools read problem details, and no pages."""
    return request.path.startswith("/api/")


def _plain(status: int, title: str, sentence: str) -> HttpResponse:
    template = loader.get_template("500.html" if status == 500 else "400.html")
    body = template.render({"title": title, "sentence": sentence})
    return HttpResponse(body, status=status)
