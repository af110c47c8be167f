/// A piece of work, and those who do it in turns: this project's command first.
struct Contest: Sendable {
    let name: String
    let contenders: [Contender]

    init(_ name: String, _ contenders: Contender...) {
        self.name = name
        self.contenders = contenders
    }
}

/// One way to do a piece of work.
struct Contender: Sendable {
    let name: String
    /// For bash. Beside the variables of `Workshop.environment` it knows nothing.
    let script: String
    /// The goal: how many times this one's wall time the first contender may take.
    let goal: Double?

    init(_ name: String, _ script: String, goal: Double? = nil) {
        self.name = name
        self.script = script
        self.goal = goal
    }
}

extension Contest {
    /// What is measured. Every script writes below `$out`, a new folder for each run.
    static let all = [
        Contest(
            "seal",
            Contender("assetvault seal", sealed("$out/pack")),
            Contender("tar, zstd -3 -T2, age", "\(piped) | age -r $recipient >$out/age", goal: 1.3),
            Contender("the same, then sync", "\(piped) | age -r $recipient >$out/age && sync $out/age"),
            Contender("tar, zstd -3 -T2 (not encrypted)", "\(piped) >$out/zst")),
        Contest(
            "open",
            Contender("assetvault open", "$assetvault open $pack -o $out/tree --keys file:$key"),
            Contender("age -d, zstd -d, tar x", unpiped, goal: 1.3),
            Contender("the same, then sync -f", "\(unpiped) && sync -f $out/tree")),
        Contest(
            "audit without a key",
            Contender("assetvault audit", "$assetvault audit $pack"),
            Contender("openssl dgst -sha256", "openssl dgst -sha256 $pack")),
        Contest(
            "audit with the key",
            Contender("assetvault audit --keys", "$assetvault audit $pack --keys file:$key"),
            Contender(
                "age -d, zstd -d, sha256", "age -d -i $identity $age | zstd -dcq | openssl dgst -sha256")),
        Contest(
            "cat of one file of 50 KB",
            Contender("assetvault cat", "$assetvault cat $pack \"$file\" --keys file:$key"),
            Contender("assetvault --version (start only)", "$assetvault --version"),
            Contender("age -d, zstd -d, tar x", "\(unpacked) -xOf - \"./$file\"")),
    ]

    /// Made once, not measured: what the works of reading read.
    static let preparation = """
        umask 077
        $assetvault --version >$version
        $assetvault keygen -o $key
        age-keygen -o $identity
        \(sealed("$pack"))
        \(piped) | age -r "$(age-keygen -y $identity)" >$age
        """

    private static func sealed(_ pack: String) -> String {
        "$assetvault seal $corpus -o \(pack) --id benchmark --keys file:$key"
    }

    private static let piped = "tar -C $corpus -cf - . | zstd -q -3 -T2"
    private static let unpacked = "age -d -i $identity $age | zstd -dcq | tar"
    private static let unpiped = "mkdir $out/tree && \(unpacked) -C $out/tree -xf -"
}
