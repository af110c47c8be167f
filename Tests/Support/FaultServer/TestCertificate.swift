import NIOSSL

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

    static func serverConfiguration() throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
        return .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    }
}
