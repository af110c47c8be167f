/// Public keys and signatures over "one message", made with OpenSSL's command of version 3.0.
enum SignatureVectors {
    static let message = Array("one message".utf8)

    /// `genpkey -algorithm ed25519`.
    static let ed25519 = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAjiixCw/QWy0QocZwwzdT25p9jYV3rD25rC0tgz6J0is=
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
    static let p256 = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+RVff39GK6X93gEHMHJrUSSC5RUG
        RAJkJShpaGbCnX076ahYxBRuxlq5pG2Wd/5FtAt4egj1Fzjf5A6yYmNmNA==
        -----END PUBLIC KEY-----
        """

    /// The same key: `-conv_form compressed`.
    static let p256Compressed = """
        -----BEGIN PUBLIC KEY-----
        MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgAC+RVff39GK6X93gEHMHJrUSSC5RUG
        RAJkJShpaGbCnX0=
        -----END PUBLIC KEY-----
        """

    /// The same key: `-conv_form hybrid`.
    static let p256Hybrid = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAG+RVff39GK6X93gEHMHJrUSSC5RUG
        RAJkJShpaGbCnX076ahYxBRuxlq5pG2Wd/5FtAt4egj1Fzjf5A6yYmNmNA==
        -----END PUBLIC KEY-----
        """

    /// `genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048`.
    static let rsa = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEApikQcH83K91Eafh+/00W
        9M5m/H9B48CFY61ycIRm0wZ0A6TCAkmfQOJpvIPch9wVkHzbI5mY3wjl+iMC6bfy
        qwViVTkn6fWMaqBl5PPVBEV4D/YkBQ0ThA3+nhhOBSsim6Im751sMBNbjN+KkP92
        NyMR2/BfnSQM78ajgn6KOZkcZpxfr0gUtLBrSp1Np+NvBsG47OoOLHOe0zYloTpZ
        IRJ2sYJ853dvKEcTvtB6MYLBAmaSgK49hRcSjUVMN9tLZUMIzGayAgsHQVutfFI8
        d1nQ6MiVt+4gmnkp/SuvOsIO6GUgv9Ws/MUR9N+Ade3BY/u2HyzfILL6s9V8xcdm
        mQIDAQAB
        -----END PUBLIC KEY-----
        """

    /// `pkeyutl -sign -rawin`.
    static let ed25519Signature = """
        d8e12e5c8a4a728a873827ad36b8a96adb4e6e9ae7300aadf54dc61fd27b50862185bd009c34270adcd6678af824e83cd233
        0b5811e4b7c74ed6e85efcff3b01
        """

    /// `dgst -sha256 -sign`.
    static let p256Signature = """
        3045022100d9217ed2528e9edd2de5cacb403adfcdf3269e3b882e30100a997bd6d2be644c022052c1fa8f51dada5489e9fc
        02516dbc5580b27a4829cf509ab8f722bc7a6a8ac8
        """

    /// `dgst -sha512 -sign`.
    static let p256SHA512Signature = """
        3045022100ad51e611b95403c874a032f80c5ebf807bbb0816febc83ec3999fa07cad2c042022071219884931142536e898f
        8f54264b980a81abff42dd3fb989d07485f7571391
        """

    /// `dgst -sha256 -sign -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest`.
    static let rsaSignature = """
        288a947968930a6dbd9cacaa3b302d7648ba37f9e4dfeeb80541914d7496afe1ac911b32556ba9f601ed8d29161d1b54e9d6
        32b5623b760fa1f11007dad9323b574b6b67b34d87536bcddf3efc30cf64c2b26edf2afb06b6630227f7e88b22a148a479ee
        e7a0ea39b644ff4b7afa71fedc50ac4923cbd760f85eb05755e216e9e8268c072a32e3d0b63037f134af9400d80662027df4
        aa50f9a6d50345649f3b591c066f69cd805da2d877133fc0cb4d4b52245e7a96ffa08531126ecce56c5ce4ba94dc566ef17a
        e35d01f8704efa1868633ab66238b75783e47a93f7d1c9e8476a06b50e4a6196e42a44853a82364a0c63cc7307ccb3d00386
        d836cb081691
        """

    /// With `rsa_pss_saltlen:max`.
    static let rsaLongSaltSignature = """
        a4914f218635311dabdaa2b0805eef934f12d60db210f339f72f896a3a66c9c701af44bef1b8181451acfecb6606cc98806d
        1d473e864824d578f1129fd3345487ddb4dc378c5a4c7c6a1629ac893abcbdab7e5dceb87c6150ade9ed6f5b13da786dc43d
        c983a80e44a52e11f8ed3334a47fa2653bc78dda8105e247dac5edeeadebd42fb60d1dae2216e37862132ac13738a199e172
        a86c3dd5e50e655f3f793db2e54f25c24db5bec5e711ebd15a89b778568490f0d1a30c263907ff121b3254519322928c9375
        b7c75c481e53646aa4248eb6b70495aa8afcdc0799c34ed8d4178162db6f489458286c4df8b88baf3232e3d9529e305c17e2
        2a831cd6f3fb
        """

    /// The first of many that begins with a byte of zero.
    static let rsaSignatureOfSmallValue = """
        001070c0b3eccea5fdd73c66f6752f30f890975c9009365fda1f2c3a0772121aed0a6471a18648490586626585a9771be981
        481472504341de67dd0e5d0dd898a23432a0dafef17a7b4048c67d08cd790da7744acd8fd7845933d82de7e77e33b5d70dc8
        37260926adddd912a2b472a38554cdc42b1e26f7cb7117df1ef5371fba92bb3286e76038bf32e1a8f4c3bf12128df4cca7cf
        d06942f8b615457bfa61571e8cc62e932aa76b868a3695ad672897b4d5ae0cfcf6ed892a6b4170959bf1fbc5096af66d3453
        117a4822462d3e78690e2e33bb7f7bd9324ab3cc7585b28a17744f70b9b0f041fd83f568b6665ebb22e0af93b84f7d5ddd0f
        21f37d48229c
        """

    /// With `rsa_pss_saltlen:0`.
    static let rsaUnsaltedSignature = """
        2c0485b5f57286bc1235861c982ea790efaf4059851f00e1ed5ba933d94e83c5e476c50f7bd858d9226aa04dd2a49a2f14f3
        93b1b97ca7f41d3efedc1f4f9d3bf2b13d715860eceda10e09a5729e7a59f135351a5d79d539d36ad27a69de6d3ad5e4aeb5
        fe9c6bb657fa1e9f59e4f57795214a740f5f4f84c4f541363cd5807a5d98b050eb3d0065be253eca69a98169600a2fbd40a0
        5382fa7c38ba89a12d795ce75e9658fb92b9a13ecb7329f1b4c9aa0d6c6b600389db34b633a85a7528db1d13fbc53b2fef71
        773f4aa813d07c42bfc1a3abc562390168c31681935ad326b4af9c04e39c676ccaec5beaa7ee6281857b7e633fdd8cb7543e
        2510ed37667b
        """
}
