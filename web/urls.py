"""Addresses of the doors. Included before the admin site: its login is ours."""

from __future__ import annotations

from django.contrib.auth.views import LogoutView
from django.urls import path

from web import views

urlpatterns = [
    path("login/", views.SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password_change"),
    path(
        "password/done/", views.PasswordChanged.as_view(), name="password_change_done"
    ),
    path("tokens/", views.api_tokens, name="api-tokens"),
    path("tokens/<int:pk>/revoke/", views.revoke_api_token, name="api-token-revoke"),
    path("admin/login/", views.admin_sign_in),
]
