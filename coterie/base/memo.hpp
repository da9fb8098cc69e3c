#pragma once
// A value that several fits share: computed once, then read by any number of threads.

#include <memory>
#include <mutex>
#include <utility>

#include "coterie/base/function_ref.hpp"

namespace coterie {

/// Keeps the value of the last key. Several threads may call it: the first caller computes, and other callers with the
/// same key wait and get the same object. A replaced value lives as long as a caller holds it. If compute() throws, its
/// caller gets the exception and the next caller computes again.
template <class Key, class Value>
class Memo {
public:
    std::shared_ptr<const Value> operator()(const Key& key, FunctionRef<std::shared_ptr<const Value>()> compute) const {
        const std::shared_ptr<Entry> entry = entry_of(key);
        const std::lock_guard lock(entry->mutex);
        if (!entry->value) entry->value = compute();
        return entry->value;
    }

private:
    struct Entry {
        explicit Entry(const Key& of) : key(of) {}
        Key key;
        std::mutex mutex;
        std::shared_ptr<const Value> value;
    };

    std::shared_ptr<Entry> entry_of(const Key& key) const {
        const std::lock_guard lock(mutex_);
        if (!last_ || !(last_->key == key)) {
            last_.reset();  // frees its memory before the next value needs memory
            last_ = std::make_shared<Entry>(key);
        }
        return last_;
    }

    mutable std::mutex mutex_;
    mutable std::shared_ptr<Entry> last_;
};

}  // namespace coterie
