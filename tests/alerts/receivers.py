"""Receivers of alerts on this machine: a web server and a mail server, both real."""

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from tests import tally


class Web:
    """What a web server has got.

    Attributes:
        code: what it answers.
        location: with a code of a redirect, where to.
    """

    def __init__(self) -> None:
        self.code, self.location, self.url = 200, "", ""
        self.bodies: list[Any] = []
        self.headers: list[dict[str, str]] = []


@contextmanager
def web_server() -> Generator[Web]:
    """A web server that keeps each POST."""
    got = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.bodies.append(json.loads(body))
            got.headers.append(dict(self.headers))
            self.send_response(got.code)
            if got.location:
                self.send_header("Location", got.location)
            self.end_headers()
            self.wfile.write(b"no\x07thanks" if got.code >= 300 else b"ok")

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    got.url = f"http://127.0.0.1:{server.server_port}/hook"
    try:
        yield got
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def raw_server(answer: bytes) -> Generator[str]:
    """A server that answers each call with these bytes and then says nothing more; its URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    open_: list[socket.socket] = []

    def answer_all() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                open_.append(connection)
                connection.recv(65536)
                connection.sendall(answer)

    thread = Thread(target=answer_all)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/secret"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in (listening, *open_):
            each.close()


class Mailbox:
    """What a mail server has got.

    Attributes:
        refused: receivers that it does not accept.
    """

    def __init__(self) -> None:
        self.port = 0
        self.refused: set[str] = set()
        self.mails: list[EmailMessage] = []
        self.to: list[list[str]] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Envelope, to: str, options: Any) -> str:
        """Take or refuse a receiver."""
        if to in self.refused:
            return "550 unknown here"
        envelope.rcpt_tos.append(to)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Envelope) -> str:
        """Keep a mail."""
        content = cast("bytes", envelope.content)
        self.mails.append(cast("EmailMessage", BytesParser(policy=default).parsebytes(content)))
        self.to.append(list(envelope.rcpt_tos))
        return "250 OK"


class _Server(Controller):
    """A server at a free port."""

    def _trigger_server(self) -> None:
        opened: Any = self.server
        self.port = opened.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def mail_server() -> Generator[Mailbox]:
    """A mail server that keeps each mail."""
    box = Mailbox()
    controller = _Server(box, hostname="127.0.0.1", port=0)
    controller.start()
    try:
        box.port = controller.port
        tally.take_part("SMTP")
        yield box
    finally:
        controller.stop()
