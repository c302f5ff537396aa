"""Runs one published client for Python against the runtime and prints a line of JSON per step.

Each generation of the API is a difference in names and in how options are given, which the client itself shows.
"""

import asyncio
import inspect
import json
import os
import sys

PLACE = json.loads(sys.argv[1])
FEATURES = PLACE["features"]
LIMIT = 25


def show(step, outcome, message=None):
    line = {"step": step, "outcome": outcome}
    if message is not None:
        line["message"] = message
    print(json.dumps(line, separators=(",", ":")), flush=True)


async def step(name, work, wanted=True):
    if not wanted:
        show(name, "absent")
        return None
    try:
        result = await asyncio.wait_for(work(), LIMIT)
    except asyncio.TimeoutError:
        show(name, "failed", f"not done after {LIMIT} s")
    except Exception as error:  # whatever a client throws is the step's outcome
        show(name, "failed", f"{type(error).__name__}: {error}")
    else:
        show(name, "ok")
        return result
    return None


try:
    import copilot
    from copilot import CopilotClient

    show("load", "ok")
except Exception as error:
    show("load", "failed", f"{type(error).__name__}: {error}")
    sys.exit(0)


def module(name):
    try:
        return __import__(f"copilot.{name}", fromlist=["x"])
    except ImportError:
        return None


def attribute(name):
    for place in (copilot, module("types"), module("session"), module("client"), module("rpc"), module("tools")):
        if place is not None and hasattr(place, name):
            return getattr(place, name)
    return None


def decision(kind, new_kind, new_class):
    """A decision as this release writes it."""
    if "old decisions" in FEATURES:
        result = attribute("PermissionRequestResult")
        is_dataclass = result is not None and hasattr(result, "__dataclass_fields__")
        return result(kind=kind) if is_dataclass else {"kind": kind}
    made = attribute(new_class)
    if made is not None and not hasattr(attribute("PermissionRequestResult"), "__dataclass_fields__"):
        return made()
    return attribute("PermissionRequestResult")(kind=new_kind)


def approve(_request, _invocation):
    return decision("approved", "approve-once", "PermissionDecisionApproveOnce")


def deny(_request, _invocation):
    return decision("denied-interactively-by-user", "reject", "PermissionDecisionReject")


BASE = {} if "runs tools unasked" in FEATURES else {"on_permission_request": approve}


def make_client():
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "GROUNDCREW_PROTOCOL") if name in os.environ
    }
    environment["COPILOT_HOME"] = PLACE["home"]
    connection = attribute("RuntimeConnection")
    if connection is not None:
        return CopilotClient(
            connection=connection.for_stdio(path=PLACE["runtime"]),
            env=environment,
            working_directory=PLACE["work"],
        )
    config = attribute("SubprocessConfig")
    if config is not None:
        names = inspect.signature(config).parameters
        directory = "cwd" if "cwd" in names else "working_directory"
        options = {"cli_path": PLACE["runtime"], "env": environment, directory: PLACE["work"]}
        return CopilotClient(config(**options))
    return CopilotClient({"cli_path": PLACE["runtime"], "env": environment, "cwd": PLACE["work"]})


def takes_config(method):
    return "config" in inspect.signature(method).parameters


async def create(client, **options):
    if takes_config(client.create_session):
        return await client.create_session(options)
    return await client.create_session(**options)


async def resume(client, session_id, **options):
    if takes_config(client.resume_session):
        return await client.resume_session(session_id, options)
    return await client.resume_session(session_id, **options)


def lookup(handler):
    tool = attribute("Tool")
    parameters = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}

    async def handle(_invocation):
        text = handler()
        if inspect.isawaitable(text):
            text = await text
        result = attribute("ToolResult")
        if result is not None and hasattr(result, "__dataclass_fields__"):
            return result(text_result_for_llm=text)
        return {"textResultForLlm": text, "resultType": "success"}

    return {
        "tools": [tool(name="lookup", description="Looks a key up", parameters=parameters, handler=handle)]
    }


def type_of(event):
    return getattr(event.type, "value", event.type)


async def turn(session, prompt):
    """The events of a turn, up to the idle that ends it."""
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    events = []

    def receive(event):
        events.append(event)
        kind = type_of(event)
        if kind == "session.idle" and not done.done():
            loop.call_soon_threadsafe(lambda: done.done() or done.set_result(None))
        if kind == "session.error" and not done.done():
            error = RuntimeError(event.data.message)
            loop.call_soon_threadsafe(lambda: done.done() or done.set_exception(error))

    stop = session.on(receive)
    try:
        takes_options = "options" in inspect.signature(session.send).parameters
        await session.send({"prompt": prompt} if takes_options else prompt)
        await done
    finally:
        stop()
    return events


def expect_text(events, text):
    said = [event.data.content for event in events if type_of(event) == "assistant.message"]
    if not any(text in (content or "") for content in said):
        raise AssertionError(f"said {said!r}")


async def history_of(session):
    return await (session.get_events() if hasattr(session, "get_events") else session.get_messages())


async def leave(session):
    await (session.disconnect() if hasattr(session, "disconnect") else session.destroy())


def id_of(listed):
    for name in ("sessionId", "session_id"):
        if isinstance(listed, dict) and name in listed:
            return listed[name]
        if hasattr(listed, name):
            return getattr(listed, name)
    raise AssertionError(f"no id in {listed!r}")


USE_LOOKUP = "Use the tool lookup with key 'ALPHA', then reply with the result"


async def main():
    client = make_client()
    await step("start", client.start)
    session = await step("create", lambda: create(client, **BASE, **lookup(lambda: "BETA")))
    if session is None:
        return

    async def send():
        expect_text(await turn(session, "What is 1+1?"), "2")

    async def streaming():
        made = await create(client, streaming=True, **BASE)
        events = await turn(made, "Count to 5")
        assert any(type_of(event) == "assistant.message_delta" for event in events), "no delta came"

    async def tool():
        expect_text(await turn(session, USE_LOOKUP), "BETA")

    async def approving():
        made = await create(client, on_permission_request=approve)
        await turn(made, "Write 'hello' to approved.txt")
        with open(os.path.join(PLACE["work"], "approved.txt"), encoding="utf8") as file:
            assert file.read().strip() == "hello"

    async def command():
        options = {"on_permission_request": approve} if "permissions" in FEATURES else BASE
        made = await create(client, **options)
        events = await turn(made, "Run `echo hello`")
        assert any(type_of(event) == "tool.execution_complete" for event in events), "no end was heard"
        await history_of(made)

    async def denying():
        asked = []

        def handler(request, invocation):
            asked.append(request)
            return deny(request, invocation)

        made = await create(client, on_permission_request=handler)
        await turn(made, "Write 'hello' to denied.txt")
        assert asked, "the handler was not asked"
        assert not os.path.exists(os.path.join(PLACE["work"], "denied.txt")), "the file was written"

    async def hooks():
        called = []

        async def before(_input, _invocation):
            called.append(1)
            return {"permissionDecision": "allow"}

        made = await create(client, hooks={"on_pre_tool_use": before}, **BASE, **lookup(lambda: "BETA"))
        expect_text(await turn(made, USE_LOOKUP), "BETA")
        assert called, "the hook was not called"

    async def asking():
        async def answer(_request, _invocation):
            return {"answer": "tea", "wasFreeform": False}

        made = await create(client, on_user_input_request=answer, **BASE)
        expect_text(await turn(made, "Ask me to choose between 'tea' and 'coffee'"), "tea")

    async def abort():
        loop = asyncio.get_running_loop()
        called = asyncio.Event()

        async def forever():
            loop.call_soon_threadsafe(called.set)
            await asyncio.sleep(3600)

        made = await create(client, **BASE, **lookup(forever))
        ended = asyncio.ensure_future(turn(made, "Use the tool lookup with key 'ALPHA'"))
        await called.wait()
        await made.abort()
        await ended

    async def history():
        kinds = {type_of(event) for event in await history_of(session)}
        assert {"user.message", "assistant.message"} <= kinds, sorted(kinds)

    async def listing():
        assert session.session_id in [id_of(each) for each in await client.list_sessions()]

    async def resuming():
        await leave(session)
        second = make_client()
        await second.start()
        resumed = await resume(second, session.session_id, **BASE, **lookup(lambda: "GAMMA"))
        expect_text(await turn(resumed, "What was my first message?"), "1+1")
        expect_text(await turn(resumed, USE_LOOKUP), "GAMMA")
        await second.stop()

    async def deleting():
        await client.delete_session(session.session_id)
        assert session.session_id not in [id_of(each) for each in await client.list_sessions()]

    async def stop():
        errors = await client.stop()
        assert not errors, errors

    await step("send", send)
    await step("streaming", streaming, "streaming" in FEATURES)
    await step("tool", tool)
    await step("approve", approving, "permissions" in FEATURES)
    await step("command", command)
    await step("deny", denying, "permissions" in FEATURES)
    await step("hooks", hooks, "hooks" in FEATURES)
    await step("input", asking, "input" in FEATURES)
    await step("abort", abort)
    await step("history", history)
    await step("list", listing, hasattr(client, "list_sessions"))
    await step("resume", resuming)
    await step("delete", deleting, hasattr(client, "delete_session"))
    await step("stop", stop)


asyncio.run(main())
sys.stdout.flush()
# A client that is still waiting for a handler would keep the process.
os._exit(0)
