"""Pages of the doors: sign in, change the password, API tokens."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from web import tokens
from web.doors import Role, requires, role_of
from web.forms import SignInForm, TokenForm
from web.models import ApiToken


class SignIn(auth_views.LoginView):
    authentication_form = SignInForm
    redirect_authenticated_user = True


class ChangePassword(auth_views.PasswordChangeView):
    """For everyone signed in, whatever their role."""


class PasswordChanged(auth_views.PasswordChangeDoneView):
    """Says so."""


@login_not_required
@require_GET
def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """The admin site's own login form has no throttle: send people to ours."""
    if request.user.is_authenticated:
        raise PermissionDenied("The admin site is for staff users and you are not one.")
    return redirect(f"{reverse('login')}?{urlencode({'next': reverse('admin:index')})}")


@never_cache
@require_http_methods(["GET", "POST"])
@requires(Role.VIEWER)
def api_tokens(request: HttpRequest) -> HttpResponse:
    """The signed-in user's tokens; POST makes one and shows its secret once."""
    user = request.user
    assert isinstance(user, User)
    held = role_of(user)
    roles = [role for role in Role if held and held.includes(role)]
    form = TokenForm(request.POST or None, roles=roles)
    secret = ""
    if request.method == "POST" and form.is_valid():
        days = form.cleaned_data["days"]
        try:
            _, secret = tokens.create(
                user=user,
                name=form.cleaned_data["name"],
                role=Role(form.cleaned_data["role"]),
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
            form = TokenForm(roles=roles)
        except tokens.TokenError as error:
            form.add_error(None, str(error))
    rows = [
        {"token": token, "valid": tokens.is_valid(token)}
        for token in ApiToken.objects.filter(user=user)[:200]
    ]
    return render(
        request, "web/tokens.html", {"rows": rows, "form": form, "secret": secret}
    )


@require_POST
@requires(Role.VIEWER)
def revoke_api_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Of one's own; an admin may revoke anybody's."""
    rows = ApiToken.objects.all()
    if role_of(request.user) is not Role.ADMIN:
        rows = rows.filter(user=request.user.pk)
    token = get_object_or_404(rows, pk=pk)
    if tokens.revoke(token=token):
        messages.success(request, f"Token “{token.name}” no longer works.")
    return redirect("api-tokens")
