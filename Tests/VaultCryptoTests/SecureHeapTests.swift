import Foundation
import Testing
import VaultCrypto

/// The secure heap belongs to a whole process, so each of these runs in its own.
@Suite struct SecureHeapTests {
    @Test func secretsAreOnTheInitialisedSecureHeap() async {
        await #expect(processExitsWith: .success) {
            let before = secret(message(32))
            #expect(before.isOnSecureHeap == false)
            #expect(SecureHeap.initialise(bytes: 100_000) != .unavailable)
            let after = secret(message(32))
            #expect(after.isOnSecureHeap == true)
            let copy = before.copy()
            #expect(copy.isOnSecureHeap == true)
            #expect(SecretBytes(randomLength: 32).isOnSecureHeap == true)
            let info: [UInt8] = []
            let derived = try HKDF.expandSHA512(after, info: info.span, count: 32)
            #expect(derived.isOnSecureHeap == true)
            // Freed when this ends, although it is on the other heap.
            #expect(before.exposed == after.exposed)
        }
    }

    @Test func secretsUseTheOrdinaryHeapWhenTheSecureHeapIsFull() async {
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

    @Test func onlyTheFirstInitialisationCounts() async {
        await #expect(processExitsWith: .success) {
            let states = await withTaskGroup(of: SecureHeap.State.self) { group in
                for size in 0..<16 { group.addTask { SecureHeap.initialise(bytes: size << 12) } }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(states.count == 1)
            #expect(states.first != .unavailable)
        }
    }

    /// OpenSSL ends the process for sizes that are not powers of two.
    @Test(arguments: [Int.min, -1, 0, 4_097, 1 << 20 + 1])
    func anySizeIsAccepted(size: Int) async {
        await #expect(processExitsWith: .success) { [size] in
            #expect(SecureHeap.initialise(bytes: size) != .unavailable)
        }
    }
}

/// The number of bytes of a freed secret that are still in memory, besides a few of the first ones. The kernel reads them, as the
/// language and sanitizers do not allow it.
private func traceOfFreedSecret() throws -> Int {
    let count = 4_096
    // A heap puts addresses into the first bytes of what is free: some of their bytes may be the secret's.
    let (marks, chance) = (32, 8)
    // Allocated first, so that it can't reuse the secret's memory.
    var seen = [UInt8](repeating: 0, count: count)
    let filling = [UInt8](repeating: 0xA5, count: count)
    let memory = unsafe open("/proc/self/mem", O_RDONLY)
    defer { close(memory) }
    func look(at address: Int) -> Int {
        guard unsafe pread(memory, &seen, count, address) == count else { return -1 }
        return seen.dropFirst(marks).count { $0 == 0xA5 }
            + max(0, seen.prefix(marks).count { $0 == 0xA5 } - chance)
    }
    // Allocated behind the secret: without it the system may get its memory back, which can't be looked at then.
    var behind: [[UInt8]] = []
    defer { withExtendedLifetime(behind) {} }
    func addressOfShortLivedSecret() -> Int {
        let held = secret(filling)
        behind = (0..<4).map { _ in [UInt8](repeating: 0, count: count) }
        let address = held.withBytes { bytes in
            unsafe bytes.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
        }
        // Verifies the address.
        return look(at: address) == count - chance ? address : -1
    }
    return look(at: addressOfShortLivedSecret())
}
