import SealedPack
import VaultErrors

extension ContentPlan {
    /// What is probably wrong with variants.
    var variantFindings: [PlanFinding] {
        let fallbacks = unusedFallbacks.map { fallback in
            PlanFinding.warning(
                "no file has the fallback '\(fallback.value)' of the trait '\(fallback.trait)'",
                fallback.nearest.map { "did you mean '\($0)'? Else give files for it, or remove it" }
                    ?? "give files for it, or remove it")
        }
        let rules = rulesWithoutVariants.map { rule in
            PlanFinding.warning(
                "no file of the rule at \(rule) is a variant of another one: every device gets them all",
                "say by \"as\" at which path an app sees them, such as \"*.png\" for \"*@2x.png\"")
        }
        return fallbacks + rules
    }
}

extension PlanFinding {
    static func warning(_ problem: String, _ remedy: String) -> PlanFinding {
        PlanFinding(severity: .warning, problem: problem, remedy: remedy)
    }
}
