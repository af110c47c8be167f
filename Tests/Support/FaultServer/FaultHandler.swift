import Foundation
import NIOCore

/// One connection: reads heads, and does for each what the script says.
final class FaultHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let journal: Journal
    private let scheme: String
    private let script: @Sendable (FaultServer.Request) -> [Step]
    private var received = ""

    init(journal: Journal, scheme: String, script: @escaping @Sendable (FaultServer.Request) -> [Step]) {
        (self.journal, self.scheme, self.script) = (journal, scheme, script)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        while let end = received.firstRange(of: "\r\n\r\n") {
            let head = String(received[..<end.lowerBound])
            received = String(received[end.upperBound...])
            answer(head, context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { journal.noteClosed() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: String, _ context: ChannelHandlerContext) {
        let base = "\(scheme)://localhost:\(context.channel.localAddress?.port ?? 0)"
        let (request, number) = journal.note(head: head, base: base)
        let steps = context.eventLoop.makePromise(of: [Step].self)
        Thread.detachNewThread { [script] in steps.succeed(script(request)) }
        steps.futureResult.assumeIsolated().whenSuccess { self.run($0[...], of: number, context) }
    }

    private func run(_ steps: ArraySlice<Step>, of number: Int, _ context: ChannelHandlerContext) {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        switch step {
        case .send(let text): send(Array(text.utf8)[...], of: number, context) { rest }
        case .bytes(let bytes): send(bytes[...], of: number, context) { rest }
        case .endlessly(let bytes): send(bytes[...], of: number, context) { steps }
        case .trickle(let text, let pause):
            send(Array(text.utf8)[...], of: number, context) { [.pause(pause)] + steps }
        case .pause(let pause):
            context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) {
                self.run(rest, of: number, context)
            }
        case .until(let condition):
            guard context.channel.isActive else { break }
            run(condition() ? rest : [.pause(.milliseconds(10))] + steps, of: number, context)
        case .close: context.close(promise: nil)
        case .reset:
            (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                .assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        case .hang: break
        }
    }

    /// Piece by piece, so that what was taken is known when the client goes away.
    private func send(
        _ bytes: ArraySlice<UInt8>, of number: Int, _ context: ChannelHandlerContext,
        then next: @escaping () -> ArraySlice<Step>
    ) {
        let piece = Array(bytes.prefix(1 << 16))
        journal.noteSending()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: piece))).assumeIsolated().whenComplete {
            guard case .success = $0 else { return self.journal.note(sent: nil, for: number) }
            self.journal.note(sent: piece, for: number)
            let rest = bytes.dropFirst(piece.count)
            // By the loop and not by a call, which would go deeper with every piece.
            context.eventLoop.assumeIsolated().execute {
                if rest.isEmpty {
                    self.run(next(), of: number, context)
                } else {
                    self.send(rest, of: number, context, then: next)
                }
            }
        }
    }
}
