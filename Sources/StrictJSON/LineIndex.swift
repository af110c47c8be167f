/// Where lines and columns of a text are: the position of a byte costs the same anywhere in it.
struct LineIndex: Sendable {
    /// Lines and columns count from 1, columns in characters (Unicode scalars).
    struct Position: Sendable, CustomStringConvertible {
        private var line = 1
        private var column = 1

        /// In the form of compilers, `LINE:COLUMN`.
        var description: String { "\(line):\(column)" }

        fileprivate mutating func pass(_ byte: UInt8) {
            if byte == UInt8(ascii: "\n") {
                (line, column) = (line + 1, 1)
            } else if byte & 0xC0 != 0x80 {
                // UTF-8 continuation bytes begin with the bits 10.
                column += 1
            }
        }
    }

    private static let step = 256
    /// The positions of the bytes 0, 256, 512, …
    private var landmarks: [Position] = []

    init(of bytes: [UInt8]) {
        var position = Position()
        for (index, byte) in bytes.enumerated() {
            if index % Self.step == 0 { landmarks.append(position) }
            position.pass(byte)
        }
        if bytes.count % Self.step == 0 { landmarks.append(position) }
    }

    /// - Parameter bytes: those that the index was made of; a position behind them is their end.
    func position(of index: Int, in bytes: [UInt8]) -> Position {
        let index = min(index, bytes.count)
        var position = landmarks[index / Self.step]
        for byte in bytes[index / Self.step * Self.step..<index] { position.pass(byte) }
        return position
    }
}
