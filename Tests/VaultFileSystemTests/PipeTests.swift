import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// Sequential reading and writing, through real pipes.
struct PipeTests {
    /// Longer than a pipe's buffer, so that both ends block and calls are short.
    private static let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test(arguments: [false, true]) func transfersAllBytes(nonBlocking: Bool) throws {
        let pipe = try FileDescriptor.pipe()
        for end in [pipe.readEnd, pipe.writeEnd] where nonBlocking {
            try #require(fcntl(end.rawValue, F_SETFL, O_NONBLOCK) == 0)
        }
        Thread.detachNewThread {
            let start = OpenFile(takingOwnershipOf: pipe.writeEnd.rawValue, named: "start")
            do { try start.writeNext(Self.bytes.span) } catch { Issue.record(error) }
        }
        let end = OpenFile(takingOwnershipOf: pipe.readEnd.rawValue, named: "end")
        var received: [UInt8] = []
        var buffer: [UInt8] = []
        while try end.readNext(into: &buffer, upTo: 100_000) > 0 {
            #expect(buffer.count == min(100_000, Self.bytes.count - received.count))
            received += buffer
        }
        #expect(received == Self.bytes)
    }

    /// A signal every half millisecond interrupts calls (EINTR).
    @Test func repeatsInterruptedCalls() async throws {
        await #expect(processExitsWith: .success) {
            var action = sigaction()
            unsafe action.__sigaction_handler.sa_handler = { _ in }
            unsafe sigaction(SIGALRM, &action, nil)
            let pause = timeval(tv_sec: 0, tv_usec: 500)
            var every = itimerval(it_interval: pause, it_value: pause)
            unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &every, nil)
            for _ in 0..<20 {
                try PipeTests().transfersAllBytes(nonBlocking: false)
                try PipeTests().transfersAllBytes(nonBlocking: true)
            }
        }
    }

    @Test func reportsABrokenPipe() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_IGN)
            let pipe = try FileDescriptor.pipe()
            try pipe.readEnd.close()
            let start = OpenFile(takingOwnershipOf: pipe.writeEnd.rawValue, named: "start")
            #expect(failure(naming: "start") { try start.writeNext([1].span) } == .io)
        }
    }

    @Test func reportsAFullDisk() throws {
        let descriptor = unsafe open("/dev/full", O_RDWR | O_CLOEXEC)
        let full = OpenFile(takingOwnershipOf: descriptor, named: "/dev/full")
        let error = #expect(throws: VaultError.self) { try full.writeNext([1].span) }
        #expect(error?.category == .diskFull)
        #expect(error?.problem.contains("disk full") == true)
    }
}
