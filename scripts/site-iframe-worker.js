// The search of the site is a worker, and browsers start none for a page that is opened from a folder. There its script runs in a hidden frame
// instead, which takes and gives messages as a worker does. The frame is of the page's own origin, so both sides may call each other.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.answer = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.frame.srcdoc = `<script>postMessage = (data) => frameElement.answer(data)</script><script src="${address}"></script>`;
      this.ready = new Promise((done) => this.frame.addEventListener("load", done));
      document.body.append(this.frame);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
