// What stands beside what: rest, skinned and simulated surfaces of one run or two, overlaid or in
// panels of their own that share a camera.

const NAMES = {
  rest: "Rest",
  skinned: "Skinned",
  simulated: "Simulated"
};

/// Panels for the choices of the store. What is inside the flesh goes with the simulated surface,
/// bones and colliders go with every panel of their run.
export function panelsFor({kinds, layout, runsShown}, runs) {
  const shown = runs.filter((_, r) => runsShown[r]);
  const shows = (wanted, run) => (kind, r) => {
    if (run !== null && r !== null && r !== run) return false;
    if (!runsShown[r ?? 0] && r !== null) return false;
    if (kind === "around") return true;
    return wanted.includes(kind === "inside" ? "simulated" : kind);
  };
  if (layout === "overlay" || shown.length * kinds.length < 2) {
    const label = runs.length > 1 ?
      shown.map((run) => `${"AB"[run.number]}: ${run.info.name}`).join("  +  ") :
      "";
    return [{label, shows: shows(kinds, null)}];
  }
  return shown.flatMap(
    (run) => kinds.map((kind) => ({
                         label: [
                           runs.length > 1 ? `${"AB"[run.number]}: ${run.info.name}` : null,
                           kinds.length > 1 || runs.length === 1 ? NAMES[kind] : null
                         ].filter(Boolean)
                                  .join(" · "),
                         shows: shows([kind], run.number),
                       })));
}
