import VaultBase
import VaultCrypto

/// The style sheet of pages, for light and dark. Each text has a contrast of 4.5 or more with what is behind it.
enum PageStyle {
    /// The `Content-Security-Policy` of a page that loads nothing and runs nothing: it has this style sheet, and that is all.
    static var policy: String {
        let digest = Base64URL.encode(SHA256.hash(Array("\(sheet)".utf8).span).bytes.span)
        return "default-src 'none'; style-src 'sha256-\(digest)='; base-uri 'none'; form-action 'none'"
    }

    static let sheet: StaticString = """
        :root {
          color-scheme: light dark;
          --page: #f4f5f8; --card: #ffffff; --text: #171c26; --quiet: #535e6e; --line: #d8dde6; --hover: #eef1f6;
          --link: #1b56b3; --bar: #4b7bd0; --bar2: #86a9e3; --bar3: #b9ccee; --cell: #c3d3ee;
          --good: #176c30; --good-back: #e4f4e8; --warn: #7a4c00; --warn-back: #fdf1d7; --warn-bar: #b27504;
          --bad: #a8201a; --bad-back: #fdeae8; --bad-bar: #d33a32; --note: #445063; --note-back: #e9edf3;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --page: #0e1218; --card: #171d26; --text: #e7ebf1; --quiet: #a0abba; --line: #2c3542; --hover: #1f2732;
            --link: #8ab8ff; --bar: #5b8be0; --bar2: #3f629f; --bar3: #2d4672; --cell: #30476d;
            --good: #71d68e; --good-back: #14291b; --warn: #f3c161; --warn-back: #302508; --warn-bar: #d79b22;
            --bad: #ff9a91; --bad-back: #371715; --bad-bar: #f0574d; --note: #b7c2d0; --note-back: #232c38;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
        header, nav, main, footer { max-width: 70rem; margin: 0 auto; padding: 0 1.5rem; }
        a { color: var(--link); }
        a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
        .skip { position: absolute; left: -100rem; }
        .skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; z-index: 1; }
        h1 { font-size: 2rem; line-height: 1.2; margin: 0; letter-spacing: -.01em; }
        h2 { font-size: 1.25rem; margin: 0 0 .25rem; }
        h3 { font-size: 1rem; margin: 0; }
        p { margin: .25rem 0; }
        code, .place { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .875em; overflow-wrap: anywhere; }
        .quiet { color: var(--quiet); }
        .kind { color: var(--quiet); margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
        .verdict { display: flex; gap: 1.25rem; align-items: center; padding: 1.25rem 1.5rem; border-radius: 12px; border: 1px solid var(--line); }
        .verdict svg { flex: none; width: 3.25rem; height: 3.25rem; }
        .verdict p { overflow-wrap: anywhere; }
        .good { color: var(--good); } .warning { color: var(--warn); } .error { color: var(--bad); } .note { color: var(--note); }
        .verdict.good { background: var(--good-back); } .verdict.warning { background: var(--warn-back); } .verdict.error { background: var(--bad-back); }
        .verdict .quiet { color: var(--text); }
        .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1rem 0; }
        .figures div { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .75rem 1rem; }
        .figures dt { color: var(--quiet); font-size: .875rem; }
        .figures dd { margin: 0; font-size: 1.375rem; font-weight: 600; font-variant-numeric: tabular-nums; }
        .figures dd + dd { font-size: .875rem; font-weight: 400; color: var(--quiet); }
        nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 1rem 0; padding: 0; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.25rem 1.5rem; margin: 1rem 0; }
        .findings { list-style: none; margin: .75rem 0 0; padding: 0; }
        .findings > li { border-left: 4px solid var(--line); padding: .25rem 0 .25rem 1rem; margin: 1.25rem 0; overflow-wrap: anywhere; }
        .findings > li.error { border-color: var(--bad-bar); } .findings > li.warning { border-color: var(--warn-bar); }
        .findings > li > * { color: var(--text); }
        .findings > li:last-child { margin-bottom: 0; }
        .findings h3 { display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
        .findings h3 code { margin-left: auto; font-weight: 400; }
        .findings ul { margin: .25rem 0; padding-left: 1.25rem; }
        .badge { font-size: .8125rem; font-weight: 600; border-radius: 99px; padding: .05rem .6rem; white-space: nowrap; }
        .badge.good { background: var(--good-back); } .badge.warning { background: var(--warn-back); }
        .badge.error { background: var(--bad-back); } .badge.note { background: var(--note-back); }
        .do { font-weight: 600; }
        .scroll { overflow-x: auto; }
        .scroll[aria-labelledby="coverage-runs-caption"] { max-height: 22rem; overflow-y: auto; }
        table { border-collapse: collapse; width: 100%; margin: .5rem 0; font-size: .9375rem; }
        caption { text-align: left; color: var(--quiet); padding: 0 0 .5rem; }
        th, td { text-align: left; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; }
        thead th { color: var(--quiet); font-weight: 600; font-size: .875rem; }
        tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 9rem; }
        tbody tr:hover { background: var(--hover); }
        tbody tr:last-child > * { border-bottom: 0; }
        td:not(.number) { min-width: 7rem; }
        .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        .bar { width: 12rem; height: .75rem; display: block; }
        .bar rect, .chart rect { fill: var(--bar); } .bar .track { fill: var(--note-back); }
        .bar .second, .swatch .second { fill: var(--bar2); } .bar .third, .swatch .third { fill: var(--bar3); }
        .bar .error, .chart .error { fill: var(--bad-bar); } .bar .warning, .chart .warning { fill: var(--warn-bar); }
        .swatch { width: .75rem; height: .75rem; } .swatch rect { fill: var(--bar); }
        .chart { width: 100%; min-width: 42rem; height: auto; display: block; margin: .75rem 0; }
        .chart text { fill: var(--text); font-size: 13px; } .chart .scale { fill: var(--quiet); }
        .chart line { stroke: var(--line); }
        .chart .whole, .swatch .whole { fill: var(--note-back); stroke: var(--quiet); stroke-width: 1; }
        .chart .value { font-weight: 600; } .chart g:hover .column { fill: var(--link); }
        h3 + p { margin-top: 0; }
        section > h3 { margin-top: 1rem; }
        .map { max-width: 100%; height: auto; display: block; margin: .5rem 0; }
        .map .sound { fill: var(--cell); } .map .damaged { fill: var(--bad-bar); } .map .cross { stroke: var(--card); stroke-width: 1.5; fill: none; }
        summary { cursor: pointer; color: var(--link); padding: .15rem 0; }
        footer { color: var(--quiet); padding-bottom: 2rem; font-size: .875rem; }
        @media print { .scroll { max-height: none !important; } nav, .skip { display: none; } section { break-inside: avoid; } }
        """
}
