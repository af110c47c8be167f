import Testing
import VaultBase
import VaultCrypto

/// RFC 5869 has no vectors for SHA-512: these come from PyPI cryptography's `HKDFExpand`.
@Suite struct HKDFTests {
    static func expand(_ info: [UInt8], count: Int) throws(VaultError) -> [UInt8] {
        try HKDF.expandSHA512(secret([UInt8](0..<32)), info: info.span, count: count).exposed
    }

    @Test func outputSpansBlocks() throws {
        #expect(
            try Self.expand(Array("assetvault".utf8), count: 76)
                == hex(
                    """
                    bb62d399ab32621dfa0b877e95437ef094ee49b975cc5ec24c8983ca6b9d699b2eb92fead8b02b7f672b88e3
                    c34c2e15c4cd8534288aca5f3aa333224c29222b9d5116c0119d0fce94fa9073
                    """))
    }

    /// OpenSSL 3.0's own HKDF takes 1,024 bytes of info.
    @Test func limitAndLongInfoAreSupported() throws {
        let info = (0..<3_000).map { UInt8($0 % 251) }
        let derived = try Self.expand(info, count: 255 * 64)
        #expect(
            SHA256.hash(derived.span).hex
                == "469c371d5067f262f26e45ecc23ebe911ae69fed90e5e0e5b9512c15beef5a37")
    }

    @Test(arguments: [0, 1, 63, 64, 65, 128, 129])
    func shorterOutputsArePrefixesOfLongerOnes(count: Int) throws {
        #expect(try Self.expand([], count: count) == Array(Self.expand([], count: 200).prefix(count)))
    }

    @Test(arguments: [-1, 255 * 64 + 1, Int.max])
    func impossibleLengthsAreRefused(count: Int) {
        let category = failure { () throws(VaultError) in
            _ = try Self.expand([], count: count)
        }
        #expect(category == .usage)
    }
}
