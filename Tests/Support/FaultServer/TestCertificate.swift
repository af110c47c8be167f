import NIOSSL

/// What is wrong with a server's TLS.
public enum TLSFlaw: Sendable {
    /// TLS 1.1 at most.
    case oldVersion
    /// Its certificate has its address, and not its name.
    case namesOnlyItsAddress
}

/// A certificate and key for `localhost`, for these tests only; both are public.
public enum TestCertificate {
    public static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBejCCASCgAwIBAgIBATAKBggqhkjOPQQDAjAfMR0wGwYDVQQDDBRBc3NldFZh
        dWx0IHRlc3QgaG9zdDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
        HzEdMBsGA1UEAwwUQXNzZXRWYXVsdCB0ZXN0IGhvc3QwWTATBgcqhkjOPQIBBggq
        hkjOPQMBBwNCAARZOHk4vzYxnAToafXCMM4Uoq1KgQ0RMuSuj8ioNF9IxjCDYziq
        tP7M35Yyazj/k4jFiPlU3g4fJAdqRtF/CK2Ho0swSTAaBgNVHREEEzARgglsb2Nh
        bGhvc3SHBH8AAAEwDAYDVR0TBAUwAwEB/zAdBgNVHQ4EFgQUBRUstbMDS96WABfw
        gx/sU26qDgYwCgYIKoZIzj0EAwIDSAAwRQIgDFm+INM88FeNnHEeJnan2mtJ+Z13
        Rw1B7fTvZE3hNa8CIQCKMe9y++CtptalNy1s0gfWkJjXNWZPCvXNV54EmTjXpQ==
        -----END CERTIFICATE-----
        """

    private static let privateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWiM5oCCvsvinvI2G
        SKgV1vc0KhfwATbsNkK6Eb37Y8+hRANCAARZOHk4vzYxnAToafXCMM4Uoq1KgQ0R
        MuSuj8ioNF9IxjCDYziqtP7M35Yyazj/k4jFiPlU3g4fJAdqRtF/CK2H
        -----END PRIVATE KEY-----
        """

    /// Names 127.0.0.1 and no host.
    public static let addressCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBrDCCAVKgAwIBAgIUJ7pENE2DSk/w3V54GlIuS7jXLCkwCgYIKoZIzj0EAwIw
        IjEgMB4GA1UEAwwXQXNzZXRWYXVsdCB0ZXN0IGFkZHJlc3MwIBcNMjYxMTIzMDMx
        NTEwWhgPMjEyNjEwMzAwMzE1MTBaMCIxIDAeBgNVBAMMF0Fzc2V0VmF1bHQgdGVz
        dCBhZGRyZXNzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEon3BJhhCPWkeZ3IH
        2coZTImTnP93DLRvKQMwNL9ga9KQEEKEFOA/IGKOgBQ/D6CLl6L4h67FVBHv/cz4
        w6/4Q6NkMGIwHQYDVR0OBBYEFC0p+w9FR47W6VXjGlVGrPAe6JPaMB8GA1UdIwQY
        MBaAFC0p+w9FR47W6VXjGlVGrPAe6JPaMA8GA1UdEQQIMAaHBH8AAAEwDwYDVR0T
        AQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBt9eLfFmCI0FQAwQ+Riv3ToFwa
        6IHl/xB//DseYjK1RgIhAI+wSZ7B3OWYuVdr8MuUOHbAISoCD0D1ZWP3Jj+awsNK
        -----END CERTIFICATE-----
        """

    private static let addressKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcYW/yVZciOexB5Ka
        c/FSH8UKb/OTb3QvZT5oSJ9pjb2hRANCAASifcEmGEI9aR5ncgfZyhlMiZOc/3cM
        tG8pAzA0v2Br0pAQQoQU4D8gYo6AFD8PoIuXoviHrsVUEe/9zPjDr/hD
        -----END PRIVATE KEY-----
        """

    static func serverConfiguration(_ flaw: TLSFlaw?) throws -> TLSConfiguration {
        let isAddress = flaw == .namesOnlyItsAddress
        let chain = try NIOSSLCertificate.fromPEMBytes(
            Array((isAddress ? addressCertificate : certificate).utf8))
        let key = try NIOSSLPrivateKey(
            bytes: Array((isAddress ? addressKey : privateKey).utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        if flaw == .oldVersion { configuration.maximumTLSVersion = .tlsv11 }
        return configuration
    }
}
