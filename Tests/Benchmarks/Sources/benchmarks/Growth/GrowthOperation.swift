/// One thing that is done at each size.
struct GrowthOperation: Sendable {
    let name: String
    /// For bash, once, not measured.
    let preparation: String
    /// For bash, before each run, not measured.
    let setup: String
    /// For bash. It writes below `$out`, a new folder for each run; the last one is `$folder/NAME` afterwards.
    let script: String
    /// Names of operations whose output nobody needs any more after this one: it is emptied.
    let frees: [String]

    init(_ name: String, _ script: String, preparation: String = "", setup: String = "", frees: [String] = [])
    {
        self.name = name
        self.preparation = preparation
        self.setup = setup
        self.script = script
        self.frees = frees
    }

    /// The source is one pack.
    static let ofOnePack = [
        GrowthOperation(
            "seal", "$assetvault seal $source -o $out/pack --id growth --keys file:$key",
            preparation: "$assetvault keygen -o $key"),
        GrowthOperation("audit", "$assetvault audit $folder/seal/pack"),
        GrowthOperation(
            "open", "$assetvault open $folder/seal/pack -o $out/tree --keys file:$key",
            frees: ["seal", "open"]),
        GrowthOperation(
            "downloader",
            """
            $assetvault downloader $url --store $out/store --request install --trust $folder/vault/trusted-root.json
            """,
            preparation: """
                $assetvault init $folder/vault
                $assetvault publish $folder/vault --pack growth=$source
                ln -sfn $folder/vault/site $www
                """, frees: ["downloader"]),
    ]

    /// Each folder of the source is a pack. The number of bins is what the documentation advises.
    static let ofPacks = [
        GrowthOperation(
            "publish", "$assetvault publish $out/vault",
            setup: """
                $assetvault init $out/vault
                {
                    echo '{ "format": 1,'
                    [ $size -lt 100 ] || awk -v packs=$size \\
                        'BEGIN { print "\\"bins\\": " 2 ^ int(log(2.5 * sqrt(packs)) / log(2) + 0.5) "," }'
                    echo '"packs": {'
                    seq $size | sed -e 's|.*|"levels/&": { "source": "../../source/&" }|' -e '$!s|$|,|'
                    echo '} }'
                } >$out/vault/vault.json
                """),
        GrowthOperation(
            "downloader",
            """
            $assetvault downloader $url --store $out/store --request install \
            --trust $folder/publish/vault/trusted-root.json
            """, preparation: "ln -sfn $folder/publish/vault/site $www"),
        GrowthOperation("fetch, nothing new", "$assetvault fetch $url --store $folder/downloader/store"),
    ]
}
