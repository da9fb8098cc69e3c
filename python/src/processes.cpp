// The library calls send and receive from its caller's thread, without the interpreter's lock. They take the lock, and
// show the bytes to Python for the time of the call, without a copy.

#include "processes.hpp"

namespace coterie::python {
namespace {

class PythonCommunicator : public Communicator {
public:
    explicit PythonCommunicator(const nb::object& given)
        : send_(given.attr("send")),
          receive_(given.attr("receive")),
          rank_(nb::cast<int>(given.attr("rank"))),
          size_(nb::cast<int>(given.attr("size"))) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void send(std::span<const std::byte> bytes, int to) override {
        const nb::gil_scoped_acquire held;
        // Python's function does not take a pointer to const; the view is read-only.
        auto* const data = reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data()));
        send_(view(data, bytes.size(), PyBUF_READ), to);
    }
    void receive(std::span<std::byte> bytes, int from) override {
        const nb::gil_scoped_acquire held;
        receive_(view(reinterpret_cast<char*>(bytes.data()), bytes.size(), PyBUF_WRITE), from);
    }

private:
    static nb::object view(char* data, std::size_t size, int access) {
        PyObject* const out = PyMemoryView_FromMemory(data, static_cast<Py_ssize_t>(size), access);
        if (out == nullptr) throw nb::python_error();
        return nb::steal(out);
    }

    nb::object send_;
    nb::object receive_;
    int rank_;
    int size_;
};

}  // namespace

std::shared_ptr<Communicator> communicator_of(const nb::object& given) {
    return std::make_shared<PythonCommunicator>(given);
}

}  // namespace coterie::python
