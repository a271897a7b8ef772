/** A wait that can be cut short, also by a ring that came before it. */
export function createAlarm(): { ring(): void; wait(maxMs: number): Promise<void> } {
  let rung = false;
  let end: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      end?.();
    },
    async wait(maxMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maxMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
      end = null;
    },
  };
}
