// The tree over L blocks. Level 0 holds the blocks. Node i of level l is made of nodes 2i and 2i + 1 of level l - 1, or
// of 2i alone if it is the last. Any range of consecutive blocks consists of a few whole nodes, so each process adds
// the nodes within its own blocks. Only nodes that span processes cost a message. The process that works on a node's
// first block holds the node's sum. It receives the sum of the right half from the process that works on the first
// block of the right half. Finally the root is broadcast.
//
// Threads take blocks in order. The thread that finishes the second of two siblings adds them, left to right, and
// continues with their parent. So no thread waits, and about log2(L) sums plus one per thread exist at a time.
//
// Invariant: L alone decides which sums are added to which, and in what order.

#include "coterie/base/parallel/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "coterie/base/parallel/collective.hpp"

namespace coterie::internal {
namespace {

// The first block of a process. A border at a multiple of a power of two cuts few nodes of the tree, and every cut node
// costs a message. It differs from an even border by at most half this power, at most 1/40 of a share.
Index border(Index process, Index blocks, Index processes) {
    if (process == processes) return blocks;
    Index unit = 1;
    while (2 * unit * 20 * processes <= blocks) unit *= 2;
    return std::min(blocks, (2 * blocks * process + processes * unit) / (2 * processes * unit) * unit);
}

}  // namespace

RowBlocks grid_of(Index rows, Index columns) {
    constexpr Index blocks = 64;    // for few rows: enough for the threads of a large machine
    constexpr Index multiple = 16;  // rows per block are a multiple of this, for the kernels
    const Index width = std::max<Index>(columns, 1);
    const Index fewest = std::clamp<Index>(65536 / width, multiple, 256);
    const Index most = std::clamp<Index>((Index{1} << 20) / width, multiple, 65536);
    const Index size = std::clamp((rows + blocks - 1) / blocks, fewest, most);
    return {rows, (size + multiple - 1) / multiple * multiple};
}

Range own_blocks(const RowBlocks& grid, const Communicator& communicator) {
    const Index rank = communicator.rank();
    return {border(rank, grid.count(), communicator.size()), border(rank + 1, grid.count(), communicator.size())};
}

Range own_rows(const RowBlocks& grid, const Communicator& communicator) {
    const Range blocks = own_blocks(grid, communicator);
    return {std::min(grid.rows, grid.begin(blocks.begin)), std::min(grid.rows, grid.begin(blocks.end))};
}

int process_of(Index block, const RowBlocks& grid, const Communicator& communicator) {
    // Finds the last process that does not begin after the block, starting from an even division.
    const Index size = communicator.size();
    Index process = block * size / grid.count();
    while (border(process, grid.count(), size) > block) --process;
    while (process + 1 < size && border(process + 1, grid.count(), size) <= block) ++process;
    return static_cast<int>(process);
}

BlockReader::BlockReader(PointsView points, const Run& run)
    : points_(points),
      grid_(grid_of(points)),
      own_(own_blocks(grid_, run.communicator())),
      ahead_(2 * std::max(run.threads, 1)),
      buffers_(at(std::max(run.threads, 1))) {
    if (points_.resident()) return;
    for (Index number = own_.begin; number < std::min(own_.begin + ahead_, own_.end); ++number)
        points_.source()->expect(grid_.begin(number), grid_.end(number));
}

PointsView BlockReader::rows(Index number, int worker) {
    if (!points_.resident() && number + ahead_ < own_.end)
        points_.source()->expect(grid_.begin(number + ahead_), grid_.end(number + ahead_));
    return points_.block(grid_.begin(number), grid_.end(number), buffers_[at(worker)]);
}

void for_each_own_block(const RowBlocks& grid, const Run& run, const Stage& stage,
                        FunctionRef<void(Index block, int worker)> body) {
    const Range own = own_blocks(grid, run.communicator());
    together(run.communicator(), [&] {
        for_each_block(own.count(), run, stage, [&](Index block, int worker) { body(own.begin + block, worker); });
    });
}

Points gather_rows(PointsView points, std::span<const Index> rows, const Run& run) {
    Communicator& communicator = run.communicator();
    if (communicator.size() == 1) return rows_of(points, rows);
    const RowBlocks grid = grid_of(points);
    std::vector<int> owner;
    for (const Index row : rows) owner.push_back(process_of(row / grid.size, grid, communicator));
    std::vector<Index> mine;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (owner[i] == communicator.rank()) mine.push_back(rows[i]);
    return points.with_scalar([&]<class Scalar>() {
        std::vector<Scalar> own;
        together(communicator, [&] {
            const Points read = rows_of(points, mine);
            const auto some = read.view().template as<Scalar>();
            own.assign(some.data, some.data + some.rows * some.columns);
        });
        // The rows arrive in the order of the processes. Restore the requested order.
        const std::vector<Scalar> all = gather(communicator, own);
        std::vector<std::size_t> order(rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return owner[a] < owner[b]; });
        Matrix<Scalar> out(static_cast<Index>(rows.size()), points.columns());
        for (std::size_t i = 0; i < order.size(); ++i)
            std::copy_n(all.data() + static_cast<Index>(i) * points.columns(), points.columns(),
                        out.data() + static_cast<Index>(order[i]) * points.columns());
        return Points(std::move(out));
    });
}

BlockSums::BlockSums(Index numbers, Clear clear, Merge merge)
    : numbers_(numbers), clear_(std::move(clear)), merge_(std::move(merge)) {
    if (!clear_) clear_ = [numbers](double* sum) { std::fill_n(sum, numbers, 0.0); };
    if (!merge_)
        merge_ = [numbers](double* left, const double* right) {
            for (Index j = 0; j < numbers; ++j) left[j] += right[j];
        };
}

BlockSums::Sum BlockSums::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!spare_.empty()) {
            Sum out = std::move(spare_.back());
            spare_.pop_back();
            return out;
        }
    }
    return Sum(at(numbers_));
}

void BlockSums::give_back(Sum sum) {
    if (sum.empty()) return;
    const std::lock_guard lock(mutex_);
    spare_.push_back(std::move(sum));
}

// One sum while it is being computed.
class BlockSums::Adding {
public:
    Adding(BlockSums& sums, const RowBlocks& grid, Communicator& communicator)
        : sums_(sums), grid_(grid), communicator_(communicator) {
        for (Index count = grid.count();; count = (count + 1) / 2) {
            counts_.push_back(count);
            if (count == 1) break;
        }
    }

    // Takes the sum of a node, and merges upwards while the sibling's sum is available.
    void add(Node node) {
        while (node.level + 1 < levels()) {
            const Index sibling = node.number ^ 1;
            if (sibling < counts_[at(node.level)]) {
                std::optional<Node> other = meet(node, sibling);
                if (!other) return;
                if (sibling < node.number) std::swap(node.sum, other->sum);
                sums_.merge_(node.sum.data(), other->sum.data());
                sums_.give_back(std::move(other->sum));
            }
            ++node.level;
            node.number /= 2;
        }
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(node));
    }

    // The sum over all blocks, on every process.
    Sum total() {
        std::optional<Sum> root = resolve(levels() - 1, 0);
        if (communicator_.size() == 1) return std::move(*root);
        Sum out = root ? std::move(*root) : sums_.take();
        communicator_.broadcast(std::as_writable_bytes(std::span(out)), process_of(0, grid_, communicator_));
        return out;
    }

private:
    int levels() const { return static_cast<int>(counts_.size()); }
    // The blocks below a node.
    Range blocks(int level, Index number) const {
        return {number << level, std::min(grid_.count(), (number + 1) << level)};
    }

    // Returns the sibling if its sum is available. Otherwise stores this node until the sibling arrives.
    std::optional<Node> meet(Node& node, Index sibling) {
        const std::lock_guard lock(mutex_);
        std::optional<Node> other = find(node.level, sibling);
        if (!other) waiting_.push_back(std::move(node));
        return other;
    }

    std::optional<Node> find(int level, Index number) {
        for (auto& node : waiting_) {
            if (node.level != level || node.number != number) continue;
            std::swap(node, waiting_.back());
            Node found = std::move(waiting_.back());
            waiting_.pop_back();
            return found;
        }
        return std::nullopt;
    }

    // Every process walks the nodes that span processes in the same order. The process of a node's first block gets its
    // sum. Messages follow the order of the walk, so no two processes wait for each other.
    std::optional<Sum> resolve(int level, Index number) {
        const Range range = blocks(level, number);
        const int first = process_of(range.begin, grid_, communicator_);
        const int own = communicator_.rank();
        if (process_of(range.end - 1, grid_, communicator_) == first) {
            if (first != own) return std::nullopt;
            return std::move(find(level, number)->sum);
        }
        std::optional<Sum> left = resolve(level - 1, 2 * number);
        if (2 * number + 1 == counts_[at(level - 1)]) return left;
        std::optional<Sum> right = resolve(level - 1, 2 * number + 1);
        const int other = process_of(blocks(level - 1, 2 * number + 1).begin, grid_, communicator_);
        if (own == other && own != first) {
            communicator_.send(std::as_bytes(std::span(*right)), first);
            sums_.give_back(std::move(*right));
        }
        if (own != first) return std::nullopt;
        if (own != other) {
            right = sums_.take();
            communicator_.receive(std::as_writable_bytes(std::span(*right)), other);
        }
        sums_.merge_(left->data(), right->data());
        sums_.give_back(std::move(*right));
        return left;
    }

    BlockSums& sums_;
    RowBlocks grid_;
    Communicator& communicator_;
    std::vector<Index> counts_;  // number of nodes on each level
    std::mutex mutex_;
    std::vector<Node> waiting_;  // nodes whose sibling has not arrived yet
};

std::span<const double> BlockSums::operator()(const RowBlocks& grid, const Run& run, const Stage& stage,
                                              FunctionRef<void(Index block, int worker, double* sum)> add) {
    give_back(std::move(total_));
    total_.clear();
    if (grid.rows == 0) {
        total_ = take();
        clear_(total_.data());
        return total_;
    }
    Adding adding(*this, grid, run.communicator());
    for_each_own_block(grid, run, stage, [&](Index block, int worker) {
        Node leaf{0, block, take()};
        clear_(leaf.sum.data());
        add(block, worker, leaf.sum.data());
        adding.add(std::move(leaf));
    });
    total_ = adding.total();
    return total_;
}

}  // namespace coterie::internal
