/// Private keys under the passphrase "correct horse", made with OpenSSL's command of version 3.0.
enum EncryptedKeys {
    static let passphrase = "correct horse"

    /// The key in all but the last.
    static let publicKey = "beb5da29051a79d88e87982687709b9c6a108e6603f4f2f0afa2c8a39a5236d4"

    /// `genpkey -algorithm ed25519 -aes-256-cbc`.
    static let pbkdf2 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAi1Sbl7RJNWGgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECQ7vIlziA3djPeqjXkUPqMEQGFV
        Y8TH9cAIAOWnF2Eu4LlY6r9JgVKGreR4SdT1JqQUCY/35JxI4nQz2NaCxIGswIJG
        T1wYpNtZEBtxDltdIzA=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// `pkcs8 -topk8 -scrypt`.
    static let scrypt = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGTME8GCSqGSIb3DQEFDTBCMCEGCSsGAQQB2kcECzAUBAhGi2/6cW1AEAICQAAC
        AQgCAQEwHQYJYIZIAWUDBAEqBBBjt2KvmOdUbEdHOL7+rBi/BEA5o6FzNiNXRJi+
        yfXXSxfyEbiOfqz/T2JjHceHFQ4WPhPTS5p5+7gwKGuDCiOlDqO/LZYe0CwmylTw
        zxiWGB/x
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// `pkcs8 -topk8 -v1 PBE-SHA1-3DES`, which is not PBES2.
    static let pbes1 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MFgwHAYKKoZIhvcNAQwBAzAOBAiQTNW0UJ4ArAICCAAEOBMUpK4AxZqkj0Ppw4z4
        Uhzj370NBE4h85gwFCftn/PgeppzfTno1nXwl2MG467Kqo4v5je+mKdY
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// `pkcs8 -topk8 -v2 des-cbc -provider legacy`, whose cipher OpenSSL has only in the legacy provider.
    static let des = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGHMEsGCSqGSIb3DQEFDTA+MCkGCSqGSIb3DQEFDDAcBAgY3IyGZFovcgICCAAw
        DAYIKoZIhvcNAgkFADARBgUrDgMCBwQI67dneD/A3okEOGHunStIvDxB0601Akl/
        +qwyAsV4wbB058OWzEzjjCssK0hKSu2vTWmcsXTm985CvzeRvqgQXxp0
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// `genpkey -algorithm x25519`, then `pkcs8 -topk8`.
    static let x25519 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgPgPdjpF0f0wICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGqP+3TSCyn0PP/Ll1GgHSgEQCAi
        0IF72+aoMSol7eHxEY1sx2aKlew0bBxVohp33vKqSZAhGoA7h4Wghp0+0dNm8dzV
        sMxXVd/97B8I7/VGoLQ=
        -----END ENCRYPTED PRIVATE KEY-----
        """
}
