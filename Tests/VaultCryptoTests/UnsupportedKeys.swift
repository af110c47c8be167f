/// Public keys that are refused, made with OpenSSL's command of version 3.0.
enum UnsupportedKeys {
    /// `genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384`.
    static let p384 = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAECuBLkJMfiXbVg2H9O/EGwBut9HrL+NUY
        nYLM/sDEAIZeav16QbAIfUyIXU/WmHDZsHvxouaD4VxdhZLoosSkJL27093r1vWl
        hdq/jfUBroXj+L3pEqve8lVfcIn/dd+Z
        -----END PUBLIC KEY-----
        """

    /// A curve of 256 bits that is not P-256.
    static let secp256k1 = """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEtZvP5F1eirBzo69BMuSdt2HJKhu55RT1
        wzu1TVxrH2XM9btHr/d4ABbp6S/eWvkvcngG654+hwNlKAcG/Heg6A==
        -----END PUBLIC KEY-----
        """

    /// `SignatureVectors.p256` with `-param_enc explicit`.
    static let p256SpelledOut = """
        -----BEGIN PUBLIC KEY-----
        MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAA
        AAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA////
        ///////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSd
        NgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5
        RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA
        //////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABPkVX39/Riul/d4BBzBya1Ek
        guUVBkQCZCUoaWhmwp19O+moWMQUbsZauaRtlnf+RbQLeHoI9Rc43+QOsmJjZjQ=
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm ed448`.
    static let ed448 = """
        -----BEGIN PUBLIC KEY-----
        MEMwBQYDK2VxAzoAQ5iV9Gl43ZHnYoRPwmFVMJCYJxoM1ZVEoA52wRjvNxeR8Vp1
        u5o5VhDdh4jFGKLT5XHClhEnmXoA
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm x25519`.
    static let x25519 = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VuAyEApVr1phXKOUuzaxwG8qsNPGKL80biy4bk9zkL+83synw=
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024`.
    static let rsa1024 = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDct4SJ2FmWlhX4rbJkmdPNW5ij
        VZaw3o184Qoze/0gref1BTr40Y8hs/WB92su8KvjGkgelqcQLwLXuLy12JE1w+I0
        4AARnKFuyZDtBIzRoTN8fOfVb0wHb4ThiPsuExfGhjHgXXvQgm1mbCbHd3AD8Dt0
        yTMsTSIvsJ72esGc/QIDAQAB
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm RSA-PSS`, under `id-RSASSA-PSS`.
    static let rsaPSS = """
        -----BEGIN PUBLIC KEY-----
        MIIBIDALBgkqhkiG9w0BAQoDggEPADCCAQoCggEBAL5ak1TPW08vVsMEiQA8SjO6
        9/KDdnHOTV/sz5M6Vv5+xiePciBHYRm93i0FBfwI6cuchQO56kVoH0LQnqSFr8mc
        NR0YVOowaBP5PkCNJJOpwLhx/qMIH7l/GInQDrLMRcwcLWOG0zm+BgJW4p/EbGg1
        kcxYmp57Se+xHLrsMIwT4g98ZgtfXSJYDQWfCwvk/P7Ed2MFPx8xVgq+2H1aL3Ao
        wy2Knf24wH7wF8KHxs095/CUtv8lyUQclEq5CQufrT2M2oElhTuW1HDn8IF7bnSP
        uOhevCdargFQDfgmQq+pGQL9ooE57d3lIQ7GDNFX9519pOK9REVPNip0AO7fz/kC
        AwEAAQ==
        -----END PUBLIC KEY-----
        """

    /// `SignatureVectors.rsa` with `-RSAPublicKey_out`.
    static let rsaPKCS1 = """
        -----BEGIN RSA PUBLIC KEY-----
        MIIBCgKCAQEApikQcH83K91Eafh+/00W9M5m/H9B48CFY61ycIRm0wZ0A6TCAkmf
        QOJpvIPch9wVkHzbI5mY3wjl+iMC6bfyqwViVTkn6fWMaqBl5PPVBEV4D/YkBQ0T
        hA3+nhhOBSsim6Im751sMBNbjN+KkP92NyMR2/BfnSQM78ajgn6KOZkcZpxfr0gU
        tLBrSp1Np+NvBsG47OoOLHOe0zYloTpZIRJ2sYJ853dvKEcTvtB6MYLBAmaSgK49
        hRcSjUVMN9tLZUMIzGayAgsHQVutfFI8d1nQ6MiVt+4gmnkp/SuvOsIO6GUgv9Ws
        /MUR9N+Ade3BY/u2HyzfILL6s9V8xcdmmQIDAQAB
        -----END RSA PUBLIC KEY-----
        """

    /// `genpkey` with parameters of 1,024 bits.
    static let dsa = """
        -----BEGIN PUBLIC KEY-----
        MIIBvzCCATQGByqGSM44BAEwggEnAoGBAPT1Rbwppt1OiyItYXgxPu0TxdXO2jhb
        JmqZPA6Vy1Tf+5SBK72hVOwa1AtKwe5jZI9x+h7dU8UdxzgVdf9VEPvNNRyUaUMR
        amoKpYsc8whkO9jpt1jaAHMyuKATtWXSBr0l7DksAtPMWWM/n4wQZzQ2PGymqJUu
        NorbXQwY/vm3Ah0AzxjZ+cXBBGjSZF2HfMBlJoENXPoxfHitmi8erQKBgQDfLFc9
        ZVEuHC9YUIKx/O0kEEtRH+ne0wozqeKeoOicdXnnDlkdyMozYQseEEweCgDVUgh0
        9PlGt0c9sd2/vHcyZLZuFxwk1tC7/NulqUj9iXnv1e9yIDOxit5HwpGkSkfz7q/l
        8KwYflHe1Lu//UrfjODBzD8zleqD69V9HP8StwOBhAACgYB4zv5zZ36gLx9wIZ+7
        yxtsm/L2u1pRba9ekMmIC3q7L3saghWFI4uTpuHz4qNHUN7j9adg82onzSUAeg97
        iCPr2EGysExpo4qne+QhxX9b4hanMlWHnveRkbSmOIUtVz+L+zdNPyMvlVjOq9Mb
        ig9SvGArcrhc/P5gtcaEPL56Cg==
        -----END PUBLIC KEY-----
        """

    /// `req -x509` of `SignatureVectors.p256`.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBbDCCAROgAwIBAgIUeAnqzkQ8/gyCWGrfbcvvI9Xd1QowCgYIKoZIzj0EAwIw
        DDEKMAgGA1UEAwwBeDAeFw0yNjExMjExNzM1NTVaFw0yNjExMjIxNzM1NTVaMAwx
        CjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT5FV9/f0Yrpf3e
        AQcwcmtRJILlFQZEAmQlKGloZsKdfTvpqFjEFG7GWrmkbZZ3/kW0C3h6CPUXON/k
        DrJiY2Y0o1MwUTAdBgNVHQ4EFgQUT/6Yb3QSm2uwHOUNgSBrjYsYRUEwHwYDVR0j
        BBgwFoAUT/6Yb3QSm2uwHOUNgSBrjYsYRUEwDwYDVR0TAQH/BAUwAwEB/zAKBggq
        hkjOPQQDAgNHADBEAiBTQUgmdz4gm8vlMzTEQGm2xzFV/1j67bnhA5V9FAlxZgIg
        DogSw1UstxC82broPOccvRc+46LP7Y7tGuWTgMgeO0k=
        -----END CERTIFICATE-----
        """
}
