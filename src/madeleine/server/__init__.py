"""The daemon: the operations of api/ over HTTP, on TCP and on a unix socket.

`daemon` runs it in this process, `launch` starts one in the background (and is light). `app`
answers requests, `guard` decides who may ask, `background` holds the loops that run unasked.
"""
