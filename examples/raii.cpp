// C++17: contexts and matrices that free themselves, and statuses that become exceptions, in 30 lines.
#include <iostream>
#include <libsparse.h>
#include <memory>
#include <stdexcept>

namespace sparse {
struct context {
    std::unique_ptr<lsp_ctx, decltype(&lsp_ctx_destroy)> ctx{nullptr, lsp_ctx_destroy};
    explicit context(const lsp_ctx_options &options = {}) {
        lsp_ctx *made = nullptr;
        char error[256] = "";
        if (lsp_ctx_create(&made, &options, error, sizeof error) != LSP_OK) throw std::runtime_error(error);
        ctx.reset(made);
    }
    void operator()(lsp_status status) const {
        if (status != LSP_OK) throw std::runtime_error(lsp_last_error(ctx.get()));
    }
};
struct matrix : lsp_csr {
    const context *owner;
    explicit matrix(const context &c) : lsp_csr{}, owner(&c) {}
    matrix(matrix &&other) noexcept : lsp_csr(other), owner(other.owner) { static_cast<lsp_csr &>(other) = {}; }
    matrix &operator=(matrix &&) = delete;
    ~matrix() { lsp_csr_free(owner->ctx.get(), this); }
};
matrix generate(const context &c, const char *name) {
    matrix A(c);
    c(lsp_generate(c.ctx.get(), name, 1, nullptr, &A));
    return A;
}
matrix operator*(const matrix &A, const matrix &B) {
    matrix C(*A.owner);
    (*A.owner)(lsp_spgemm(A.owner->ctx.get(), &A, &B, nullptr, &C, nullptr));
    return C;
}
} // namespace sparse

int main() try {
    sparse::context context;
    const auto A = sparse::generate(context, "poisson2d:100");
    const auto C = A * A;
    std::cout << C.rows << " rows, " << C.nnz << " entries\n";
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
