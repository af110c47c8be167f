extension Contest {
    static let cat = Contest(
        "cat of one file of 50 KB", preparation: Preparation.pack + Preparation.age,
        Contender("assetvault cat", "$assetvault cat $pack \"$file\" --keys file:$key"),
        Contender(
            "assetvault --version (start only)", "$assetvault --version",
            goals: .millisecondsBeyond(5), .kibibytesReadBeyond(1024)),
        Contender("age -d, zstd -d, tar x", "\(Script.unpack("$age")) -xOf - \"./$file\""))
}
