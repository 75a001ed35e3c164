# scipy.optimize, integrate, interpolate.
# tree: scientific
import numpy as np
from scipy import integrate, interpolate, optimize
rosen = lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
print(optimize.minimize(rosen, [0, 0], method="Nelder-Mead").x.round(3), optimize.brentq(np.cos, 0, 3), optimize.curve_fit(lambda x, a, b: a * x + b, [0, 1, 2], [1, 3, 5])[0].round(6), optimize.fsolve(lambda x: x ** 2 - 4, 1.0).round(6))
print(optimize.linprog([-1, -2], A_ub=[[1, 1]], b_ub=[4], bounds=[(0, 3), (0, 3)]).x.round(6), optimize.linear_sum_assignment([[4, 1], [2, 3]]), round(float(optimize.minimize_scalar(lambda x: (x - 2) ** 2).x), 6), optimize.differential_evolution(rosen, [(-2, 2)] * 2, seed=1).x.round(3))
print(np.round(integrate.quad(lambda x: np.exp(-x * x), -np.inf, np.inf), 6)[0], integrate.solve_ivp(lambda t, y: -y, [0, 1], [1], rtol=1e-8).y[0, -1].round(6), integrate.simpson([1, 4, 9], dx=1), integrate.odeint(lambda y, t: -2 * y, 1, [0, 1])[-1].round(5), np.round(integrate.dblquad(lambda y, x: x * y, 0, 1, 0, 1)[0], 6))
x = np.linspace(0, 3, 7)
print(interpolate.interp1d(x, x ** 2)(1.25).round(6), interpolate.CubicSpline(x, np.sin(x))(1.2).round(6), interpolate.griddata([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 2], [[0.5, 0.5]]).round(6), interpolate.UnivariateSpline(x, x, s=0)(2.5).round(6))
