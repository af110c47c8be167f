import Foundation
import Testing
import VaultCrypto

/// The secure heap belongs to a whole process, so each of these runs in its own.
@Suite struct SecureHeapTests {
    @Test func secretsMoveToTheSecureHeapWhenItIsAskedFor() async {
        await #expect(processExitsWith: .success) {
            let before = secret(message(32))
            #expect(before.isOnSecureHeap == false)
            #expect(SecureHeap.initialise(bytes: 100_000) != .unavailable)
            let after = secret(message(32))
            #expect(after.isOnSecureHeap == true)
            let copy = before.copy()
            #expect(copy.isOnSecureHeap == true)
            #expect(SecretBytes(randomCount: 32).isOnSecureHeap == true)
            let info: [UInt8] = []
            let derived = try HKDF.expandSHA512(after, info: info.span, count: 32)
            #expect(derived.isOnSecureHeap == true)
            // Freed when this ends, though it stands on the other heap.
            #expect(before.exposed == after.exposed)
        }
    }

    @Test func secretsOverflowToTheOrdinaryHeap() async {
        await #expect(processExitsWith: .success) {
            SecureHeap.initialise(bytes: 1)
            let large = secret(message(1 << 20))
            #expect(large.isOnSecureHeap == false)
            #expect(large.exposed == message(1 << 20))
        }
    }

    @Test func secretsAreWipedOnTheSecureHeap() async {
        await #expect(processExitsWith: .success) {
            SecureHeap.initialise(bytes: 1 << 16)
            let trace = try traceOfFreedSecret()
            #expect(trace == 0)
        }
    }

    @Test func secretsAreWipedOnTheOrdinaryHeap() async {
        await #expect(processExitsWith: .success) {
            let trace = try traceOfFreedSecret()
            #expect(trace == 0)
        }
    }

    @Test func onlyTheFirstOfManyCallsCounts() async {
        await #expect(processExitsWith: .success) {
            let states = await withTaskGroup(of: SecureHeap.State.self) { group in
                for size in 0..<16 { group.addTask { SecureHeap.initialise(bytes: size << 12) } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(states.count == 1)
            #expect(states.first != .unavailable)
        }
    }

    /// OpenSSL ends the process for sizes that are no powers of two.
    @Test(arguments: [Int.min, -1, 0, 4_097, 1 << 20 + 1])
    func anySizeIsTaken(size: Int) async {
        await #expect(processExitsWith: .success) { [size] in
            #expect(SecureHeap.initialise(bytes: size) != .unavailable)
        }
    }
}

/// How many bytes of a secret are still where it was after it is gone. The kernel reads them: to the language, and to
/// sanitizers, that memory is gone too.
private func traceOfFreedSecret() throws -> Int {
    let count = 4_096
    // Made first, so that it can't take the place that the secret leaves.
    var seen = [UInt8](repeating: 0, count: count)
    let filling = [UInt8](repeating: 0xA5, count: count)
    let memory = unsafe open("/proc/self/mem", O_RDONLY)
    defer { close(memory) }
    func look(at address: Int) -> Int {
        guard unsafe pread(memory, &seen, count, address) == count else { return -1 }
        return seen.count { $0 == 0xA5 }
    }
    func addressOfShortLivedSecret() -> Int {
        let held = secret(filling)
        let address = held.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
        }
        // Proves that this is the place to look at.
        return look(at: address) == count ? address : -1
    }
    return look(at: addressOfShortLivedSecret())
}
