"""Style sheets, scripts and icons, out of the process that serves the pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import Redirect, Response, StaticFile


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise, with each file read here, in the thread that answers the request.

    Its own response is an iterator, which an ASGI server cannot step through: Django
    collects it whole in yet another thread and warns. The files are small (the largest
    has half a megabyte), so to hold one costs nothing.
    """

    @staticmethod
    def serve(static_file: StaticFile | Redirect, request: HttpRequest) -> HttpResponse:
        found: Response = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file as file:
                content = file.read()
        answer = HttpResponse(content, status=int(found.status))
        del answer["content-type"]  # what it is, the file's own headers say
        for key, value in found.headers:
            answer[key] = value
        return answer
