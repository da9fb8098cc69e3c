// The search of the site runs in a worker, but browsers start no worker for a page that was opened from a folder. For such pages, the script runs in
// a hidden frame, which receives and sends messages like a worker. The frame has the same origin as the page, so both can call each other.
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
