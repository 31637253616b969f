// What the page shows, in one place: controls write it, views listen to the keys they depend on.

export function createStore(initial) {
  const listeners = [];
  const store = {...initial};

  /// Change some keys; those who listen to one of them are told once, after all are changed.
  function set(changes) {
    const changed = Object.keys(changes).filter((key) => store[key] !== changes[key]);
    if (changed.length === 0) return;
    Object.assign(store, changes);
    for (const {keys, listener} of listeners) {
      if (keys.some((key) => changed.includes(key))) listener(store);
    }
  }

  /// Call `listener` when one of `keys` changes.
  function on(keys, listener) {
    listeners.push({keys, listener});
  }

  return {state: store, set, on};
}
