extension Contest {
    static let cat = Contest(
        "one file of 50 KB", preparation: Preparation.pack + Preparation.age,
        Contender("assetvault cat", printed),
        Contender("age -d, zstd -d, tar x", "\(Script.unpack("$age")) -xOf - \"./$file\""))

    static let catBeyondStart = Contest(
        "one file of 50 KB, beyond the start", preparation: Preparation.pack, turns: 10,
        Contender("assetvault cat", printed),
        Contender(
            "assetvault --version", "$assetvault --version",
            goals: .millisecondsBeyond(5), .kibibytesReadBeyond(1024)))

    private static let printed = "$assetvault cat $pack \"$file\" --keys file:$key"
}
