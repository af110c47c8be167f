"""A link between this machine and a server on it, with a delay and a rate: link.py PORT ROUND_TRIP_MS MBIT_PER_SECOND.

Prints its URL. Each direction takes half of the round trip, the server's bytes come at the rate, and a new connection waits for one
round trip, as its handshake does. TCP's slow start is not simulated.
"""

import asyncio
import sys

port, round_trip, rate = int(sys.argv[1]), float(sys.argv[2]) / 1000, float(sys.argv[3]) * 125_000
free = 0.0


async def forward(source, target, rate, first):
    """Passes bytes on; each chunk arrives half a round trip after the link has sent it."""
    global free
    clock = asyncio.get_running_loop().time
    queue = asyncio.Queue()

    async def deliver():
        while (item := await queue.get()) is not None:
            moment, chunk = item
            await asyncio.sleep(max(0, moment - clock()))
            target.write(chunk)
            await target.drain()
        target.close()

    task = asyncio.create_task(deliver())
    try:
        while chunk := await source.read(16_384):
            sent = clock() + first
            first = 0
            if rate:
                free = max(free, sent) + len(chunk) / rate
                sent = free
                # Not more than the link holds.
                await asyncio.sleep(max(0, sent - clock() - 0.05))
            await queue.put((sent + round_trip / 2, chunk))
    except ConnectionError:
        pass
    await queue.put(None)
    try:
        await task
    except ConnectionError:
        pass


async def connect(reader, writer):
    source, target = await asyncio.open_connection("127.0.0.1", port)
    await asyncio.gather(forward(reader, target, None, round_trip), forward(source, writer, rate, 0))


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


asyncio.run(main())
