import Foundation

/// Archives made by real tools (GNU tar 1.34, gzip 1.12, bzip2 1.0.8, xz 5.4.1, zstd 1.5.4, 7-Zip 22.01).
enum RealArchives {
    /// One tree in every format: `run.sh` executable, `zero` empty, `long.txt` "level " 500 times,
    /// `é/ñ.txt` "hola\n", `empty/inner` a folder.
    static let sameTree: [(name: String, bytes: [UInt8])] = [
        (
            "a.tar.gz",
            decode(
                """
                H4sIAAAAAAACA+3ZQU6EMBTGcdaeAuOeUmjpavYuvQLGRiZBmABj0Bu59AxezEY3hBk1JtCB8P8tXmc3IV/6Wh6RCGYXO0br
                r9UZr2d+m1QlQagDD45tlzfuL6d4yOHDrUQk7NOhexGLyl/G2i3k7zH/fVXZRiwlf5nJlPz95F/W1WPU9d28+z9T6qf8dWZO
                8o+16/8x+c+utM+2DKlUKpVKpVKpVOqS63Tvf82xitriovMfmYznP8pkvP/5cHMt7veVaIurABsUiVfb1PPP/3+Z/5yb/yYp
                8x9P+d/l/a3NH2zTio+3y+Qvs5P5n5RB2K8p/5WSKjzkXbGLXPiCM2CD/d/lvrTvv277G833H2/5D4+A9+m/Bf3Z/xM1yj9R
                hv7vRRIP+v93+JwCW+v/c2z6f93/9fj+p43i/u9DUZc5Gx4AAAAAAAAAAAAAAAAAAGA9PgHkB6JWAFAAAA==
                """)
        ),
        (
            "a.tar.bz2",
            decode(
                """
                QlpoOTFBWSZTWT9LNc8AAfvfncuQaAH/hgRQc1l2599wBCAgAAgAACCICDABWs2ahJICnkpoB6n6oyaABpoekNAZAilNIam0
                Q9QZNNABo0MEZG1HlBJJQBkaAAaAADE0AB+fAo8/NVxvdGxPLYMdh4Cmpg0CYBDPgCRa+zErVsT9hFwGKLJhmHAi9UatYvkw
                h4ihUSAFq4qs+q6BCgq0XpOTf0wHbbb3z2zbrDbHR/d3lERhmJQXorhIuFQHiEOaBAOvmE6pAgCLjwikklldK8BIAyEjcyGQ
                +0DOBmRG2fohBoaN/shKMnnDQkhz8VEPneE6o0wHo8qOYxolS6b4xRBgM42A2gZIPH5PMR+GolgajWCErIzWVlIIqy9Ck110
                cIIq78qgq3J5yzXWbtPFjqbDgEVC6Zg7aEcYbwiZELE9gigIVaS6co05ALUJkJhB/xdyRThQkD9LNc8=
                """)
        ),
        (
            "a.tar.xz",
            decode(
                """
                /Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4E//ATldABcLvBx9AZXAHUo+eRW/ePpNnfzGGV3a9CWSBhTr0jv1PhmakDY0ptkx
                GuWlCIbw9CZAUVt8bhwyM9Zob/kmHEPZ2B/6Mfa4dYK5c7Rizt5BbP6QPQDW+pLunWSZJrxhqF9J/IkG5gV7ZfwzQw6iGPsa
                LMUAbNf+0wjAs1dzRlJmrs8ede7/8X09vB5RnYEPByyihNEqmqm2awuLNXZ47pAkEaaaXDzmtInltlNgxTEorvmf0ruQlu2Q
                x9gSceNYYR1f32zi0wUb0VTFRKdMDSjacRrC2P4LKWr1QcgfbqpUGYJX39K/5oW/cpS2Jx8P+4lWezXJfqF0lxLj8r+aS3kU
                OiCB2JmzIkmXHHffNc3tz1/0qZS62hqYHrO85HLOIOOTCvOQ71S3zSKPGjqWWQ0oJP49wYm68kAAAAAATUrx3020sSAAAdUC
                gKABADvQXNaxxGf7AgAAAAAEWVo=
                """)
        ),
        (
            "a.tar.zst",
            decode(
                """
                KLUv/QRovQgAQssjHaC7AY9zVbXZtu75759kBWu1cFp2+3dKDifuPpgClHEUOONHfxM++C51HXZlcT4z95W1I5RLnwafavzv
                L//KOoIqQmtBUaPd8JyZ2YGq1Y4BJWq7HB0IcsL3SuSsBDWmTpXxxi/6lBFCycx8qesS6zDDy2+oWru4R/+u7tPUduzOEL2R
                xLHxg8N0jnE6twswoJCEbIYkSRoDIEkUJdYBDKgveFCnT72x6gkdeIAyvR/x6glSCQBWo2RVWGdswE1poKNlQQVjgBO9H22B
                P5CqcymnpHDX54BpyKpCwADmkzZ5mMrYgKkZsV5pNyAJ9evSVzB1M4HrTFtG9QJq1qYyxYDUpEwBNvOdZMGT/il42FAB8GnB
                QjFHoQ==
                """)
        ),
        (
            "a.7z",
            decode(
                """
                N3q8ryccAAQdAUCi2wAAAAAAAAAiAAAAAAAAALd0c8PgC8YALF0ANhlLMukg+qMEjOiK4YND9FskePnt39nan1hVptB6YJ5O
                cSkW50Pu+XZgwAAAAACBMweuD9E9XiygkKB3XsVAGKDji5CCJDOVc4v68oowGbjcJgiEWROvZ7NzmzgqiocuGAVlMnQ2sqF0
                x/kRP3s2X+GSyAqXvVfUapHf2DWvgyp16b7+4VZb17Z4PCYjH7ykLssjYK3pYErP02WxKb5to1QmU05Eu1E+OqZQoSeoHag3
                uPzaqKPhtclkO2w+rVoQ8ExifhSJvo5oAk0y/i6tvLHMAAAXBjQBCYCnAAcLAQABIwMBAQVdABAAAAyBAgoBg/M6ogAA
                """)
        ),
        (
            "a.zip",
            decode(
                """
                UEsDBBQAAAAAAHBSdV0AAAAAAAAAAAAAAAAGAAAAZW1wdHkvUEsDBBQAAAAAAHBSdV0AAAAAAAAAAAAAAAAMAAAAZW1wdHkv
                aW5uZXIvUEsDBBQAAAAIAHFSdV37MG9qHAAAALgLAAAIAAAAbG9uZy50eHTtxCEBAAAIA7AqlLu7Jj81EJtYs+nYtm3b/vwB
                UEsDBAoAAAAAAHBSdV0dnfsECgAAAAoAAAAGAAAAcnVuLnNoIyEvYmluL3NoClBLAwQKAAAAAABwUnVdAAAAAAAAAAAAAAAA
                BAAAAHplcm9QSwMEFAAACAAAcFJ1XQAAAAAAAAAAAAAAAAMAAADDqS9QSwMECgAACAAAcFJ1XXit29EFAAAABQAAAAkAAADD
                qS/DsS50eHRob2xhClBLAQI/AxQAAAAAAHBSdV0AAAAAAAAAAAAAAAAGACQAAAAAAAAAEIDtQQAAAABlbXB0eS8KACAAAAAA
                AAEAGABRhYfMoXndAQAAAAAAAAAAAAAAAAAAAABQSwECPwMUAAAAAABwUnVdAAAAAAAAAAAAAAAADAAkAAAAAAAAABCA7UEk
                AAAAZW1wdHkvaW5uZXIvCgAgAAAAAAABABgAUYWHzKF53QEAAAAAAAAAAAAAAAAAAAAAUEsBAj8DFAAAAAgAcVJ1Xfswb2oc
                AAAAuAsAAAgAJAAAAAAAAAAggKSBTgAAAGxvbmcudHh0CgAgAAAAAAABABgAW2WzzKF53QEAAAAAAAAAAAAAAAAAAAAAUEsB
                Aj8DCgAAAAAAcFJ1XR2d+wQKAAAACgAAAAYAJAAAAAAAAAAggO2BkAAAAHJ1bi5zaAoAIAAAAAAAAQAYAFGFh8yhed0BAAAA
                AAAAAAAAAAAAAAAAAFBLAQI/AwoAAAAAAHBSdV0AAAAAAAAAAAAAAAAEACQAAAAAAAAAIICkgb4AAAB6ZXJvCgAgAAAAAAAB
                ABgA0b2IzKF53QEAAAAAAAAAAAAAAAAAAAAAUEsBAj8DFAAACAAAcFJ1XQAAAAAAAAAAAAAAAAMAJAAAAAAAAAAQgO1B4AAA
                AMOpLwoAIAAAAAAAAQAYAFGFh8yhed0BAAAAAAAAAAAAAAAAAAAAAFBLAQI/AwoAAAgAAHBSdV14rdvRBQAAAAUAAAAJACQA
                AAAAAAAAIICkgQEBAADDqS/DsS50eHQKACAAAAAAAAEAGABRhYfMoXndAQAAAAAAAAAAAAAAAAAAAABQSwUGAAAAAAcABwBu
                AgAALQEAAAAA
                """)
        ),
    ]

    /// Each contains one file with a password; the last one also encrypts the name.
    static let encrypted: [(name: String, bytes: [UInt8])] = [
        (
            "e.zip",
            decode(
                """
                UEsDBBQAAQAAAHFSdV2DFtyMDQAAAAEAAAABAAAAeLDvJtICGyC3R5Q9kwVQSwECPwMUAAEAAABxUnVdgxbcjA0AAAABAAAA
                AQAkAAAAAAAAACCApIEAAAAAeAoAIAAAAAAAAQAYAJFf0cyhed0BAAAAAAAAAAAAAAAAAAAAAFBLBQYAAAAAAQABAFMAAAAs
                AAAAAAA=
                """)
        ),
        (
            "aes.zip",
            decode(
                """
                UEsDBDMAAQBjAHFSdV0AAAAAHQAAAAEAAAABAAsAeAGZBwACAEFFAwAAwc+Ms3eIp5AM1GHP3mmAKyWezrX1EfccuXkxiMxQ
                SwECPwMzAAEAYwBxUnVdAAAAAB0AAAABAAAAAQAvAAAAAAAAACCApIEAAAAAeAoAIAAAAAAAAQAYAJFf0cyhed0BAAAAAAAA
                AAAAAAAAAAAAAAGZBwACAEFFAwAAUEsFBgAAAAABAAEAXgAAAEcAAAAAAA==
                """)
        ),
        (
            "e.7z",
            decode(
                """
                N3q8ryccAAQMQPF9EAAAAAAAAABaAAAAAAAAAPdyBFQbUtCqU3lq/g+GlIwS4HrnAQQGAAEJEAAHCwEAAiQG8QcBElMPWykJ
                p+42ylsQKQ++rBJZdCEhAQABAAwFAQAICgGDFtyMAAAFARkBABEFAHgAAAAUCgEAkV/RzKF53QEVBgEAIICkgQAA
                """)
        ),
        (
            "eh.7z",
            decode(
                """
                N3q8ryccAAT/KK+hcAAAAAAAAAAuAAAAAAAAAK92K2Kxi/jmlAHWHcwnQlOnvTwGrQc30gumOYDdHZrzekZj9B5WN0uhztvV
                rez9ZQTC/voLrrAfq+fB3DXI6NdG2rDEcaA0T5uixvbLlQZHzZh5gnh+4zCuPfY4zamFVbNUiTsUzZ3ckWjTHX3vjpo7tdLY
                FwYQAQlgAAcLAQABJAbxBwESUw84Nm8bA57Pq58mnQHyGpE7DFoKAc5003cAAA==
                """)
        ),
    ]

    private static func decode(_ text: String) -> [UInt8] {
        [UInt8](Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data())
    }
}
