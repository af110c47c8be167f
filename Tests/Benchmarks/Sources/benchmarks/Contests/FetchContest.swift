extension Contest {
    static let fetch = Contest(
        "fetch from nginx, and open", preparation: Preparation.site + Preparation.age,
        Contender(
            "assetvault fetch",
            """
            $assetvault fetch $url/site --store $out/store --trust $folder/site/trusted-root.json \
            --keys file:$folder/site/keys/vault.jwks
            """),
        Contender(
            "curl, sha256sum, age -d, zstd -d, tar x",
            """
            curl -sSf -o $out/age $url/benchmark.tar.zst.age && sha256sum --check --quiet $age.sha256 && \
            \(Script.unpackTree("$out/age"))
            """, goals: .wall(0.45)),
        Contender(
            "curl, zstd -d, tar x, not encrypted",
            "mkdir $out/tree && curl -sSf $url/benchmark.tar.zst | zstd -dcq | tar -C $out/tree -xf -",
            goals: .wall(0.9)))

    static let update = Contest(
        "update of 2 %, without a key", preparation: Preparation.changed,
        Contender(
            "assetvault downloader, from the version before",
            "$assetvault downloader $url/update --store $out/store --request update",
            setup: "cp -a $folder/held $out/store", goals: .peakMebibytes(32)),
        Contender(
            "assetvault downloader, everything",
            """
            $assetvault downloader $url/update --store $out/store --request install \
            --trust $folder/update/trusted-root.json
            """, goals: .wall(0.15), .peakMebibytes(32)))

    static let openedUpdate = Contest(
        "update of 2 %, opened", preparation: Preparation.changed,
        Contender(
            "assetvault fetch, from the version before",
            "$assetvault fetch $url/update --store $out/store --keys file:$folder/update/keys/vault.jwks",
            setup: "cp -a $folder/opened $out/store"),
        Contender(
            "assetvault fetch, everything",
            """
            $assetvault fetch $url/update --store $out/store --trust $folder/update/trusted-root.json \
            --keys file:$folder/update/keys/vault.jwks
            """, goals: .wall(0.2)))
}
