// Keys that work wherever the focus is, unless it is in a control that uses them itself.

/// True if the focused control takes this key for itself.
function taken(event) {
  const {target, key} = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (target.closest?.("dialog")) return true;
  const name = target.tagName;
  if (name === "SELECT" || name === "TEXTAREA" || (name === "INPUT" && target.type === "number"))
    return true;
  if (name === "INPUT" && target.type === "range")
    return key.startsWith("Arrow") || key === "Home" || key === "End";
  if (["BUTTON", "SUMMARY", "A"].includes(name)) return key === " " || key === "Enter";
  return false;
}

/// `actions`: what each key does, by its name.
export function listenToKeys(actions) {
  window.addEventListener("keydown", (event) => {
    const action =
      actions[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : event.key] ??
      actions[event.key.toLowerCase()];
    if (!action || taken(event)) return;
    event.preventDefault();
    action();
  });
}
