import StrictJSON

/// What a command answers: lines for people, or with `--json` one object for scripts.
protocol Report {
    /// Each is one line of standard output.
    var lines: [String] { get }
    var json: JSONObject { get }
}

extension Report {
    func answer(asJSON isJSON: Bool) {
        if isJSON { return Console.answer(bytes: JSONValue.object(json).pretty()) }
        for line in lines { Console.answer(line) }
    }
}

extension JSONValue {
    static func number(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    static func texts(_ values: some Sequence<some CustomStringConvertible>) -> JSONValue {
        .array(values.map { .string($0.description) })
    }

    static func objects<Element>(_ values: some Sequence<Element>, _ object: (Element) -> JSONObject)
        -> JSONValue
    {
        .array(values.map { .object(object($0)) })
    }
}
