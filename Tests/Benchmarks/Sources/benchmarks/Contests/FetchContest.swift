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
            """, goals: .wall(0.45)))

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
}
