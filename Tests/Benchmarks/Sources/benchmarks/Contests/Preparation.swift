/// The input of contests, made once and not measured: bash that makes missing files.
enum Preparation {
    /// Known to every preparation.
    static let functions = """
        publish() { # NAME SOURCE: the next version of a vault, which nginx serves
            [ -e $folder/$1 ] || $assetvault init $folder/$1
            $assetvault publish $folder/$1 --pack game=$2
            [ -e $www/$1 ] || ln -s $folder/$1/site $www/$1
        }

        """

    static let pack = """
        [ -e $pack ] || \(Script.seal("$pack"))

        """

    /// The same as .tar.zst.age, with its digest, where curl finds and saves it.
    static let age = """
        if ! [ -e $age ]; then
            \(Script.piped) | age -r $recipient >$age
            ln -s $age $www/
            \(Script.piped) >$www/benchmark.tar.zst
            echo "$(sha256sum <$age | cut -c 1-64)  $out/age" >$age.sha256
        fi

        """

    static let restic = """
        if ! [ -e $restic ]; then
            \(Script.initRestic("$restic"))
            \(Script.backUp("$restic"))
        fi

        """

    static let casync = """
        [ -e $casync.caidx ] || casync make --store=$casync.castr $casync.caidx $corpus

        """

    static let site = """
        [ -e $www/site ] || publish site $corpus

        """

    /// A vault whose second version differs in 2 % of the bytes, by whole files all over the tree; and two stores that
    /// have the first, `held` sealed and `opened` as files.
    static let changed = """
        if ! [ -e $folder/held ]; then
            cp -al $corpus $folder/changed
            total=$(find $corpus -type f -printf '%s\\n' | awk '{ sum += $1 } END { print sum }')
            find $corpus -type f -printf '%s %P\\n' | sort -k 2 |
                awk -v most=$((total / 50)) 'NR % 20 == 0 && sum + $1 <= most {
                    sum += $1; sub(/^[0-9]+ /, ""); print }' |
                while IFS= read -r path; do
                    openssl enc -aes-256-ctr -K $(printf %064d 7) -iv $(printf %032d 7) \\
                        -in "$corpus/$path" -out $folder/new
                    mv $folder/new "$folder/changed/$path"
                done
            publish update $corpus
            $assetvault downloader $url/update --store $folder/held --request install \\
                --trust $folder/update/trusted-root.json
            $assetvault fetch $url/update --store $folder/opened --trust $folder/update/trusted-root.json \\
                --keys file:$folder/update/keys/vault.jwks
            publish update $folder/changed
        fi

        """
}

/// Parts of scripts that occur more than once.
enum Script {
    static func seal(_ pack: String) -> String {
        "$assetvault seal $corpus -o \(pack) --id benchmark --keys file:$key"
    }

    static let piped = "tar -C $corpus -cf - . | zstd -q -3 -T2"

    static func unpack(_ age: String) -> String { "age -d -i $identity \(age) | zstd -dcq | tar" }

    static func unpackTree(_ age: String) -> String { "mkdir $out/tree && \(unpack(age)) -C $out/tree -xf -" }

    static func initRestic(_ repository: String) -> String { "restic -q --no-cache -r \(repository) init" }

    static func backUp(_ repository: String) -> String {
        "(cd $corpus && exec restic -q --no-cache -r \(repository) backup .)"
    }
}
