import NIOCore

/// Passes on what a connection receives only as fast as it is asked for, even after the host has closed the connection.
///
/// When a host closes a connection, NIO reads all that the system has received, up to some megabytes, without being asked; and
/// AsyncHTTPClient drops what its reader has not taken when the connection ends. A resumed download would transfer those bytes again.
/// Here they wait for the reader, and the end waits for them. The channel needs the option `allowRemoteHalfClosure`.
final class ReadsOnDemand: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private var waiting = CircularBuffer<ByteBuffer>()
    /// Whether the reader has asked for more since it last got something. It may have done so before this handler was added.
    private var isWanted = true
    /// Whether the reads until the next `channelReadComplete` are what was asked for.
    private var isPassing = false
    private var isAtEnd = false

    func read(context: ChannelHandlerContext) {
        isWanted = true
        guard isAtEnd || !waiting.isEmpty else { return context.read() }
        // Not at once: the caller may not be ready for bytes before this function returns.
        let bound = context.loopBound
        context.eventLoop.assumeIsolated().execute { self.passNext(bound.value) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isWanted && waiting.isEmpty { (isWanted, isPassing) = (false, true) }
        guard isPassing else { return waiting.append(unwrapInboundIn(data)) }
        pass(data, context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard isPassing else { return }
        isPassing = false
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        isAtEnd = true
        // NIO asks no more after the end.
        if !isWanted { context.channel.read() }
        closeIfAllIsPassed(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.removeAll()
        isWanted = false
        context.fireChannelInactive()
    }

    /// TLS has an end of its own, a message, which closes the connection unless this option is set.
    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        let options = context.channel.syncOptions
        try? options?.setOption(.allowRemoteHalfClosure, value: false)
        context.fireChannelRead(data)
        try? options?.setOption(.allowRemoteHalfClosure, value: true)
    }

    private func passNext(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        if isWanted, let bytes = waiting.popFirst() {
            isWanted = false
            pass(wrapInboundOut(bytes), context)
            context.fireChannelReadComplete()
            // As NIO does after its own reads; it reaches this handler if more is wanted.
            context.channel.read()
        }
        closeIfAllIsPassed(context)
    }

    /// The end is due when more is asked for than there is, as it always is between responses.
    private func closeIfAllIsPassed(_ context: ChannelHandlerContext) {
        guard isAtEnd, waiting.isEmpty, isWanted else { return }
        context.close(promise: nil)
    }
}
