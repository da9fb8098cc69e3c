#pragma once
// What several fits share is computed once and then only read, on however many threads the fits run.

#include <memory>
#include <mutex>
#include <utility>

#include "coterie/base/function_ref.hpp"

namespace coterie {

/// Keeps the value of the last key. Safe to call from several threads: the first caller computes, the others with the
/// same key wait and get the same object. A value that was replaced lives as long as a caller holds it. What compute()
/// throws reaches its caller, and the next caller computes again.
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
            last_.reset();  // its memory is free before the next value needs memory
            last_ = std::make_shared<Entry>(key);
        }
        return last_;
    }

    mutable std::mutex mutex_;
    mutable std::shared_ptr<Entry> last_;
};

}  // namespace coterie
