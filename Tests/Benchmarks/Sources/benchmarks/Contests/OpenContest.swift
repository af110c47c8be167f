extension Contest {
    static let open = Contest(
        "open", preparation: Preparation.pack + Preparation.age + Preparation.restic + Preparation.casync,
        Contender(
            "assetvault open", "$assetvault open $pack -o $out/tree --keys file:$key",
            goals: .peakMebibytes(64)),
        Contender("age -d, zstd -d, tar x", Script.unpackTree("$age"), goals: .wall(0.85)),
        Contender("the same, then sync -f", "\(Script.unpackTree("$age")) && sync -f $out/tree"),
        Contender(
            "restic restore", "restic -q --no-cache -r $restic restore latest --target $out/tree",
            warmsUp: false, goals: .wall(0.35)),
        Contender(
            "casync extract (not encrypted)",
            "casync extract --store=$casync.castr $casync.caidx $out/tree", warmsUp: false))
}
