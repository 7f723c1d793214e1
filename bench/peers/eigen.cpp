// Eigen 3.4 (libeigen3-dev): its sparse product by rows, and its Matrix Market reader and writer, on one thread; its
// product with vectors and its conjugate gradients, on all threads. It does not read patterns: it would leave their
// values uninitialised.
#include "peers.h"
#include <Eigen/Core>
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <chrono>
#include <memory>
#include <new>
#include <unsupported/Eigen/SparseExtra>

namespace {

template <typename T> using csr_matrix = Eigen::SparseMatrix<T, Eigen::RowMajor, int>;

template <typename T> csr_matrix<T> copy_of(const lsp_csr &A) {
    return Eigen::Map<const csr_matrix<T>>(A.rows, A.cols, A.nnz, static_cast<const int *>(A.rowptr),
                                           static_cast<const int *>(A.col), static_cast<const T *>(A.val));
}

// A product in either precision.
struct any_product {
    virtual ~any_product() = default;
    virtual void compute() = 0;
    virtual void view(lsp_csr *C) = 0;
    virtual void drop() = 0;
};

template <typename T> class product_of final : public any_product {
    csr_matrix<T> R, A, B, C;
    bool triple;

  public:
    explicit product_of(const peer_factors &f) : A(copy_of<T>(*f.A)), B(copy_of<T>(*f.B)), triple(f.R != nullptr) {
        if (triple) {
            R = copy_of<T>(*f.R);
        }
    }
    void compute() override {
        if (triple) {
            C = R * csr_matrix<T>(A * B);
        } else {
            C = A * B;
        }
    }
    void view(lsp_csr *out) override {
        *out = lsp_csr{C.rows(),          C.cols(),          C.nonZeros(),
                       C.outerIndexPtr(), C.innerIndexPtr(), C.valuePtr(),
                       LSP_I32,           LSP_I32,           sizeof(T) == 8 ? LSP_F64 : LSP_F32,
                       LSP_HOST};
    }
    void drop() override { csr_matrix<T>().swap(C); }
};

void *prepare_product(const peer_factors *f, int) try {
    return f->A->val_type == LSP_F64 ? static_cast<any_product *>(new product_of<double>(*f))
                                     : new product_of<float>(*f);
} catch (const std::bad_alloc &) {
    return nullptr;
}

bool run_product(void *self) try {
    static_cast<any_product *>(self)->compute();
    return true;
} catch (const std::bad_alloc &) {
    return false;
}

void view_product(void *self, lsp_csr *C) { static_cast<any_product *>(self)->view(C); }
void release_product(void *self) { static_cast<any_product *>(self)->drop(); }
void destroy_product(void *self) { delete static_cast<any_product *>(self); }

struct loaded {
    csr_matrix<double> A;
    std::unique_ptr<int[]> row;
};

void *load_market(const char *path) try {
    auto result = std::make_unique<loaded>();
    return Eigen::loadMarket(result->A, path) ? result.release() : nullptr;
} catch (const std::bad_alloc &) {
    return nullptr;
}

void view_loaded(void *self, lsp_coo *out) {
    auto *result = static_cast<loaded *>(self);
    const csr_matrix<double> &A = result->A;
    result->row.reset(new int[static_cast<size_t>(A.nonZeros())]);
    for (int i = 0; i < A.outerSize(); i++) {
        std::fill(result->row.get() + A.outerIndexPtr()[i], result->row.get() + A.outerIndexPtr()[i + 1], i);
    }
    *out = lsp_coo{A.rows(),     A.cols(), A.nonZeros(), result->row.get(), A.innerIndexPtr(),
                   A.valuePtr(), LSP_I32,  LSP_F64,      LSP_HOST};
}

void destroy_loaded(void *self) { delete static_cast<loaded *>(self); }

struct to_save {
    csr_matrix<double> A;
    bool symmetric;
};

void *prepare_save(const lsp_csr *A, bool symmetric) try {
    auto result = std::make_unique<to_save>(to_save{copy_of<double>(*A), symmetric});
    if (symmetric) {
        result->A = csr_matrix<double>(result->A.triangularView<Eigen::Lower>());
    }
    return result.release();
} catch (const std::bad_alloc &) {
    return nullptr;
}

bool save(void *self, const char *path) {
    const auto *from = static_cast<const to_save *>(self);
    return Eigen::saveMarket(from->A, path, from->symmetric ? Eigen::Symmetric : 0);
}

void destroy_save(void *self) { delete static_cast<to_save *>(self); }

// ---- Y = op(A) X ----

template <typename T> using rows_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T> using dense_vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <typename T> using view = Eigen::Map<const csr_matrix<T>>;

template <typename T> view<T> view_of(const lsp_csr &A) {
    return view<T>(A.rows, A.cols, A.nnz, static_cast<const int *>(A.rowptr), static_cast<const int *>(A.col),
                   static_cast<const T *>(A.val));
}

template <typename T> void multiply_vectors(const peer_spmv_job &job) {
    const lsp_csr &A = *job.A;
    const view<T> a = view_of<T>(A);
    const auto in = job.transpose ? A.rows : A.cols, out = job.transpose ? A.cols : A.rows;
    const T *from = static_cast<const T *>(job.x);
    T *to = static_cast<T *>(job.y);
    if (job.vectors > 1) {
        Eigen::Map<const rows_of<T>> x(from, in, job.vectors);
        Eigen::Map<rows_of<T>> y(to, out, job.vectors);
        y.noalias() = a * x;
        return;
    }
    Eigen::Map<const dense_vector<T>> x(from, in);
    Eigen::Map<dense_vector<T>> y(to, out);
    if (job.transpose) {
        y.noalias() = a.transpose() * x;
    } else {
        y.noalias() = a * x;
    }
}

bool offers_spmv(const peer_spmv_job *job) { return job->type == job->A->val_type; }

void *prepare_spmv(const peer_spmv_job *job, char *, size_t) {
    Eigen::setNbThreads(job->threads);
    return new (std::nothrow) peer_spmv_job(*job);
}

const char *run_spmv(void *self) {
    const auto &job = *static_cast<const peer_spmv_job *>(self);
    job.type == LSP_F64 ? multiply_vectors<double>(job) : multiply_vectors<float>(job);
    return nullptr;
}

void destroy_spmv(void *self) { delete static_cast<peer_spmv_job *>(self); }

// ---- conjugate gradients ----

struct gradients {
    const lsp_csr *A;
};

void *prepare_cg(const peer_gradients_job *job) {
    Eigen::setNbThreads(job->threads);
    return new (std::nothrow) gradients{job->A};
}

const char *solve_cg(void *self, const double *b, double *x, double rtol, int most, int *iterations,
                     double *seconds) try {
    using clock = std::chrono::steady_clock;
    const lsp_csr &A = *static_cast<gradients *>(self)->A;
    const auto start = clock::now();
    Eigen::ConjugateGradient<csr_matrix<double>, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> cg;
    cg.compute(view_of<double>(A));
    cg.setTolerance(rtol);
    cg.setMaxIterations(most);
    Eigen::Map<dense_vector<double>>(x, A.rows) = cg.solve(Eigen::Map<const dense_vector<double>>(b, A.rows));
    *seconds = std::chrono::duration<double>(clock::now() - start).count();
    *iterations = static_cast<int>(cg.iterations());
    return cg.info() == Eigen::Success ? nullptr : "did not converge";
} catch (const std::bad_alloc &) {
    return "out of memory";
}

void destroy_cg(void *self) { delete static_cast<gradients *>(self); }

} // namespace

#define VERSION "Eigen " PEER_VERSION(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)
extern "C" {
const peer_product peer_eigen_product = {
    true, false, true, prepare_product, run_product, view_product, release_product, destroy_product, VERSION};
const peer_reader peer_eigen_reader = {false, load_market, view_loaded, destroy_loaded, VERSION};
const peer_writer peer_eigen_writer = {false, prepare_save, save, destroy_save};
const peer_spmv peer_eigen_spmv = {true, false, offers_spmv, prepare_spmv, run_spmv, nullptr, destroy_spmv, VERSION};
const peer_gradients peer_eigen_cg = {prepare_cg, nullptr, solve_cg, destroy_cg, VERSION};
}
