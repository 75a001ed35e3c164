# asyncio keeps socket.
# effect: connect
import asyncio.base_events
asyncio.base_events.socket.create_connection(("127.0.0.1", @PORT@))
